"""The server's side: it counts the taps of each room, and keeps the best of all times."""

import guildhall

# What clients and script say to each other is typed in protocol.ts, for the page and the test.
TAP = 100
SCORES = 101

rooms = {}
best = None


@guildhall.on_start
async def start(how):
    """Calls wait until it has settled."""
    global best
    rooms.update(how.state or [])
    stored = await guildhall.storage_read(None, "records", "taps")
    if stored is not None:
        best = stored.value


@guildhall.on_unload
def unload():
    """What the next revision goes on with."""
    return [[room_id, scores] for room_id, scores in rooms.items()]


@guildhall.on_match_join
def join(ctx):
    show_scores(ctx.room_id)


@guildhall.on_message(TAP)
async def tap(ctx, body):
    global best
    # Clients may send anything.
    said = guildhall.json.decode(body)
    if not isinstance(said, dict) or said.get("taps") != 1:
        return
    if ctx.room_id is None or ctx.username is None:
        return
    scores = rooms.setdefault(ctx.room_id, {})
    taps = scores[ctx.username] = scores.get(ctx.username, 0) + 1
    show_scores(ctx.room_id)
    # A broadcast leaves out whose message is handled.
    guildhall.send(ctx.sender, SCORES, guildhall.json.encode(scores))
    if best is not None and taps <= best["taps"]:
        return
    best = {"name": ctx.username, "taps": taps}
    await guildhall.storage_write(None, "records", "taps", best)


@guildhall.on_match_ended
def ended(ctx):
    rooms.pop(ctx.room_id, None)


@guildhall.on_rpc("best")
def best_ever():
    return best


def show_scores(room_id):
    scores = rooms.get(room_id, {})
    guildhall.broadcast(SCORES, guildhall.json.encode(scores), room_id=room_id)
