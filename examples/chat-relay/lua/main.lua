-- Messages of this kind are lines of the chat.
local chat_kind = 100

-- The others in the sender's room (without a room: everybody else) get its id and its text.
guildhall.on_message(chat_kind, function(ctx, text)
  guildhall.broadcast(chat_kind, guildhall.pack_u64(ctx.sender) .. text)
end)

-- Sends a client its id to this server.
guildhall.on_rpc("whoami", function(ctx)
  local null = guildhall.json.null
  return {
    participant = ctx.sender,
    user_id = ctx.user_id or null,
    username = ctx.username or null,
  }
end)
