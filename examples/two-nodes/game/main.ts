// A line of chat goes to the others of the room, whatever node they are on.
guildhall.on_message(100, (_ctx, body) => guildhall.broadcast(100, body))
