/// <reference path="../../../../server/guildhall.d.ts" />

/**
 * A small game for the dashboard's tests: each room writes lines and telemetry, and its match has a
 * result.
 */

guildhall.on_room_create(({ options }) => {
  if (options.mode === 'board') return { mode: 'board' }
  return { map: 'courtyard', mode: '<b>duel</b>', max_players: 4 }
})

guildhall.room('board', {
  create: () => ({ pieces: [{ at: 'a1', is: '<i>king</i>' }], moves: 0 }),
  message: {
    102: (_ctx, _body, { state }) => {
      state.moves += 1
    },
  },
})

guildhall.on_match_join(({ room_id, participant, user_id }) => {
  const words = `participant ${participant} comes in, ${user_id}`
  guildhall.log.write('info', 'duel', words, { room_id })
})

guildhall.on_message(100, (_ctx, body) => {
  guildhall.telemetry.begin('round')
  guildhall.telemetry.mark('hit', 'accepted')
  guildhall.telemetry.mark('late', 'rejected')
  guildhall.telemetry.finish()
  guildhall.log.write('warn', 'duel.round', 'the round is over', { moves: 9007199254740993n })
  guildhall.match.set_result({ winner: '<i>ana</i>' })
  guildhall.broadcast(100, body)
})

guildhall.on_message(101, (_ctx, body) => guildhall.broadcast(101, body))

guildhall.on_rpc('roll', (_ctx, payload) => ({
  dice: 4,
  asked: guildhall.json.decode(payload),
}))
guildhall.on_rpc('say', (_ctx, payload) => {
  const { word, times } = guildhall.json.decode(payload) as { word: string; times: number }
  for (let time = 1; time <= times; time += 1) {
    guildhall.log.write('info', 'say', `${word} ${time}`)
  }
})
guildhall.on_rpc('enter', async (_ctx, payload) => {
  const { cup, user_id } = guildhall.json.decode(payload) as { cup: string; user_id: string }
  await guildhall.tournaments.register(cup, user_id)
})
guildhall.on_rpc('boom', () => {
  throw new Error('the dice fell off the <table>')
})
guildhall.on_rpc('late_boom', () => {
  throw new Error('the table fell on the dice')
})
