/// <reference path="../../../packages/server/guildhall.d.ts" />

/** Messages of this kind are chat lines. */
const chatKind = 100

const relay = (ctx: MessageContext, text: Uint8Array): void => {
  const sender = guildhall.pack_u64(ctx.sender)
  const line = new Uint8Array(sender.length + text.length)
  line.set(sender)
  line.set(text, sender.length)
  guildhall.broadcast(chatKind, line)
}

/** Everybody else in the sender's room (without a room: everybody) gets the sender and the text. */
guildhall.on_message(chatKind, relay)

/** Tells a client who it is to this server. */
guildhall.on_rpc('whoami', (ctx) => ({
  participant: ctx.sender,
  user_id: ctx.user_id,
  username: ctx.username,
}))
