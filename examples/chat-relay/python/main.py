import guildhall

# Messages of this kind are lines of the chat.
CHAT = 100


@guildhall.on_message(CHAT)
def relay(ctx, text):
    """The others in the sender's room (without a room: everybody else) get its id and its text."""
    guildhall.broadcast(CHAT, guildhall.pack_u64(ctx.sender) + text)


@guildhall.on_rpc("whoami")
def whoami(ctx):
    """Sends a client its id to this server."""
    return {"participant": ctx.sender, "user_id": ctx.user_id, "username": ctx.username}
