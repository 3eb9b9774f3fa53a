import { type Check, defineCheck, rule } from '../../database/checks/check.ts'

/** @param historyLimit `chat.history_limit` */
export function createChatCheck(historyLimit: number): Check {
  return defineCheck('chat', {
    tables: ['chat_channels', 'chat_messages'],
    rules: [
      rule('chat.counter', {
        rule: "a channel's counter is at or beyond its newest id",
        text: `SELECT c.channel AS id FROM chat_channels c WHERE c.messages <
          (SELECT MAX(m.id) FROM chat_messages m WHERE m.channel = c.channel)`,
      }),
      rule('chat.ids', {
        rule: 'ids are unique within their channel and begin at 1',
        text: `SELECT channel || '#' || CAST(id AS text) AS id FROM chat_messages
          GROUP BY channel, id HAVING COUNT(*) > 1 OR id < 1`,
      }),
      rule('chat.channels', {
        rule: 'a message belongs to a channel',
        text: `SELECT m.channel || '#' || CAST(m.id AS text) AS id FROM chat_messages m
          LEFT JOIN chat_channels c ON c.channel = m.channel WHERE c.channel IS NULL`,
      }),
      rule('chat.deleted', {
        rule: 'a deleted message has no content',
        text: `SELECT channel || '#' || CAST(id AS text) AS id FROM chat_messages
          WHERE deleted <> 0 AND content <> ''`,
      }),
      rule('chat.history', {
        rule: 'a channel keeps at most chat.history_limit messages',
        text: `SELECT channel AS id FROM chat_messages
          GROUP BY channel HAVING COUNT(*) > :history_limit`,
        params: { history_limit: 'integer' },
        values: { history_limit: historyLimit },
      }),
    ],
  })
}
