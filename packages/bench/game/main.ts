/// <reference path="../../server/guildhall.d.ts" />

/** Relays every message of a player to the other members of the group that the player named. */

/** The members of each group, by its name, as participant ids. */
const groups = new Map<string, number[]>()
const groupOf = new Map<number, number[]>()

guildhall.on_rpc('group', ({ sender }, body) => {
  const name = new TextDecoder().decode(body)
  const members = groups.get(name) ?? []
  groups.set(name, members)
  members.push(sender)
  groupOf.set(sender, members)
})

guildhall.on_leave(({ sender }) => {
  const members = groupOf.get(sender)
  groupOf.delete(sender)
  members?.splice(members.indexOf(sender), 1)
})

guildhall.on_message(100, ({ sender }, body) => {
  for (const member of groupOf.get(sender) ?? []) {
    if (member !== sender) guildhall.send(member, 100, body)
  }
})
