"""The server's side of the arena: a world per room, moved 20 times a second.

Clients say where they want to go; what happens is decided here alone. `../messages/protocol.ts`
has what is sent. `../game` is the same game in TypeScript, by a room with state.
"""

import guildhall

from world import World

STEER = 100
SNAPSHOT = 101
HAPPENING = 102

worlds = {}


def world_of(room_id):
    if room_id not in worlds:
        worlds[room_id] = World()
    return worlds[room_id]


@guildhall.on_unload
def unload():
    """A change of these files goes on with the worlds as they are."""
    return [[room_id, world.save()] for room_id, world in worlds.items()]


@guildhall.on_start
def start(how):
    for room_id, saved in how.state or []:
        worlds[room_id] = World.restore(saved)


@guildhall.on_room_create
def create():
    return {"map": "courtyard", "mode": "sparks", "max_players": 8, "listed": True}


@guildhall.on_match_join
def join(ctx):
    world_of(ctx.room_id).enter(ctx.participant, ctx.user_id)


@guildhall.on_match_leave
def leave(ctx):
    world_of(ctx.room_id).leave(ctx.participant)


@guildhall.on_match_ended
def ended(ctx):
    worlds.pop(ctx.room_id, None)


@guildhall.on_drop
def drop(ctx):
    if ctx.room_id is not None:
        world_of(ctx.room_id).set_away(ctx.sender, True)


@guildhall.on_return
def come_back(ctx):
    if ctx.room_id is not None:
        world_of(ctx.room_id).set_away(ctx.sender, False)


@guildhall.on_message(STEER)
def steer(ctx, body):
    # Clients may send anything.
    wanted = guildhall.json.decode(body)
    if ctx.room_id is None or not isinstance(wanted, dict):
        return
    world = world_of(ctx.room_id)
    # After a restart of the script the players are still there, and their world is new.
    world.enter(ctx.sender, ctx.user_id)
    world.steer(ctx.sender, wanted)


@guildhall.on_tick
def tick(dt, room_id):
    if room_id is None:
        return
    world = world_of(room_id)
    for happening in world.step(min(dt, 0.25)):
        guildhall.broadcast(HAPPENING, guildhall.json.encode(happening))
        if happening["type"] == "over":
            set_result(world, happening)
    # The next one is 50 ms away: a lost one is no loss.
    guildhall.broadcast(SNAPSHOT, guildhall.json.encode(world.snapshot()), True)


def set_result(world, over):
    """The result of the match is that of its last whole round; it stands in the record."""
    winner = world.fighters.get(over["winner"])
    guildhall.match.set_result({
        "round": over["round"],
        "winner": winner["user_id"] if winner else None,
        "scores": [score for _, score in over["scores"]],
    })
