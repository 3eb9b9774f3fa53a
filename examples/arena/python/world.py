"""The rules of the arena, without a server: numbers in, numbers out."""

import math
import random

WIDTH, HEIGHT = 1600, 900
FIGHTER_RADIUS, SPARK_RADIUS = 24, 10
# Sparks that win a round.
GOAL = 12
# Seconds between two rounds.
PAUSE_S = 5
SPARKS_MAX = 14
SPEED, DASH_SPEED = 340, 980
DASH_S, DASH_EVERY_S = 0.2, 1.2
# How fast a fighter takes on the speed that its player wants, per second.
GRIP = 9
# A fighter that was robbed cannot be robbed again for a while.
SAFE_S = 1.5

PILLARS = ((400, 260, 58), (1200, 260, 58), (800, 450, 84), (400, 640, 58), (1200, 640, 58))

STILL = {"x": 0, "y": 0, "dash": False}


class World:
    def __init__(self):
        self.round = 1
        # Seconds until the next round; 0 while one is played.
        self.pause_left_s = 0
        self.fighters = {}
        self.sparks = [free_place() for _ in range(SPARKS_MAX)]

    def save(self):
        """A world as JSON has it."""
        return {
            "round": self.round,
            "pause_left_s": self.pause_left_s,
            "fighters": list(self.fighters.values()),
            "sparks": self.sparks,
        }

    @classmethod
    def restore(cls, saved):
        world = cls()
        world.round = saved["round"]
        world.pause_left_s = saved["pause_left_s"]
        world.fighters = {fighter["id"]: fighter for fighter in saved["fighters"]}
        world.sparks = saved["sparks"]
        return world

    def enter(self, id, user_id):
        """Puts a player in; one who is there already stays as it is."""
        if id in self.fighters:
            return
        x, y = free_place()
        self.fighters[id] = {
            "id": id, "user_id": user_id, "x": x, "y": y, "vx": 0, "vy": 0, "steer": STILL,
            "score": 0, "away": False, "dash_left_s": 0, "dash_in_s": 0, "safe_left_s": SAFE_S,
        }

    def leave(self, id):
        self.fighters.pop(id, None)

    def steer(self, id, wanted):
        """Takes what a player wants, made harmless: a direction is never longer than 1."""
        fighter = self.fighters.get(id)
        x, y = wanted.get("x"), wanted.get("y")
        if fighter is None or not is_finite(x) or not is_finite(y):
            return
        length = max(1, math.hypot(x, y))
        dash = wanted.get("dash") is True
        fighter["steer"] = {"x": x / length, "y": y / length, "dash": dash}

    def set_away(self, id, away):
        """Whoever has lost the connection stands still until it is back."""
        fighter = self.fighters.get(id)
        if fighter is not None:
            fighter.update(away=away, steer=STILL)

    def step(self, dt):
        """Moves the world on by `dt` seconds and returns what happened."""
        if self.pause_left_s > 0:
            return self._wait(dt)
        fighters = list(self.fighters.values())
        for fighter in fighters:
            move(fighter, dt)
        happenings = [spark for fighter in fighters for spark in self._collect(fighter)]
        happenings += [theft for robber in fighters for theft in rob(robber, fighters)]
        return happenings + self._judge()

    def snapshot(self):
        return {
            "round": self.round,
            "pause": math.ceil(self.pause_left_s),
            "players": [
                {
                    "id": fighter["id"],
                    "x": round(fighter["x"]),
                    "y": round(fighter["y"]),
                    "score": fighter["score"],
                    "dashing": fighter["dash_left_s"] > 0,
                    "away": fighter["away"],
                }
                for fighter in self.fighters.values()
            ],
            "sparks": [[round(x), round(y)] for x, y in self.sparks],
        }

    def _wait(self, dt):
        self.pause_left_s = max(0, self.pause_left_s - dt)
        if self.pause_left_s > 0:
            return []
        self.round += 1
        for fighter in self.fighters.values():
            x, y = free_place()
            fighter.update(score=0, x=x, y=y, vx=0, vy=0, safe_left_s=SAFE_S)
        return [{"type": "begin", "round": self.round}]

    def _collect(self, fighter):
        for n, (x, y) in enumerate(self.sparks):
            if math.hypot(x - fighter["x"], y - fighter["y"]) > FIGHTER_RADIUS + SPARK_RADIUS:
                continue
            self.sparks[n] = free_place()
            fighter["score"] += 1
            yield {"type": "spark", "by": fighter["id"], "x": round(x), "y": round(y)}

    def _judge(self):
        scores = [[id, fighter["score"]] for id, fighter in self.fighters.items()]
        scores.sort(key=lambda entry: -entry[1])
        if not scores or scores[0][1] < GOAL:
            return []
        self.pause_left_s = PAUSE_S
        over = {"round": self.round, "winner": scores[0][0], "scores": scores}
        return [{"type": "over", **over}]


def move(fighter, dt):
    wanted = fighter["steer"]
    for clock in ("dash_in_s", "dash_left_s", "safe_left_s"):
        fighter[clock] = max(0, fighter[clock] - dt)
    wants_to_move = wanted["x"] != 0 or wanted["y"] != 0
    if wanted["dash"] and wants_to_move and fighter["dash_in_s"] == 0:
        vx, vy = wanted["x"] * DASH_SPEED, wanted["y"] * DASH_SPEED
        fighter.update(dash_left_s=DASH_S, dash_in_s=DASH_EVERY_S, vx=vx, vy=vy)
    if fighter["dash_left_s"] == 0:
        share = min(1, GRIP * dt)
        fighter["vx"] += (wanted["x"] * SPEED - fighter["vx"]) * share
        fighter["vy"] += (wanted["y"] * SPEED - fighter["vy"]) * share
    fighter["x"] += fighter["vx"] * dt
    fighter["y"] += fighter["vy"] * dt
    keep_inside(fighter)


def keep_inside(fighter):
    for x, y, radius in PILLARS:
        dx, dy = fighter["x"] - x, fighter["y"] - y
        distance = math.hypot(dx, dy) or 1
        nearest = radius + FIGHTER_RADIUS
        if distance < nearest:
            fighter["x"] = x + dx / distance * nearest
            fighter["y"] = y + dy / distance * nearest
    fighter["x"] = min(WIDTH - FIGHTER_RADIUS, max(FIGHTER_RADIUS, fighter["x"]))
    fighter["y"] = min(HEIGHT - FIGHTER_RADIUS, max(FIGHTER_RADIUS, fighter["y"]))


def rob(robber, fighters):
    """A dash into somebody takes a spark and pushes."""
    if robber["dash_left_s"] == 0:
        return
    for victim in fighters:
        distance = math.hypot(robber["x"] - victim["x"], robber["y"] - victim["y"])
        is_near = distance <= 2 * FIGHTER_RADIUS + 6
        if victim is robber or not is_near or victim["safe_left_s"] > 0:
            continue
        victim.update(safe_left_s=SAFE_S, vx=robber["vx"], vy=robber["vy"])
        if victim["score"] == 0:
            continue
        victim["score"] -= 1
        robber["score"] += 1
        at = {"x": round(victim["x"]), "y": round(victim["y"])}
        yield {"type": "stolen", "by": robber["id"], "from": victim["id"], **at}


def free_place():
    """A place away from pillars and edges."""
    while True:
        x = 60 + random.random() * (WIDTH - 120)
        y = 60 + random.random() * (HEIGHT - 120)
        if all(math.hypot(x - px, y - py) > radius + 50 for px, py, radius in PILLARS):
            return [x, y]


def is_finite(number):
    is_number = isinstance(number, (int, float)) and not isinstance(number, bool)
    return is_number and math.isfinite(number)
