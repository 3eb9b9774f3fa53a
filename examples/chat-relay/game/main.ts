/// <reference path="../../../packages/server/guildhall.d.ts" />

/** Messages of this kind are lines of the chat. */
const chatKind = 100

/** The others in the sender's room (without a room: everybody else) get its id and its text. */
guildhall.on_message(chatKind, (ctx, text) => {
  const sender = guildhall.pack_u64(ctx.sender)
  const line = new Uint8Array(sender.length + text.length)
  line.set(sender)
  line.set(text, sender.length)
  guildhall.broadcast(chatKind, line)
})

/** Sends a client its id to this server. */
guildhall.on_rpc('whoami', (ctx) => ({
  participant: ctx.sender,
  user_id: ctx.user_id,
  username: ctx.username,
}))
