/**
 * What reads the newest rows of one user behind a place, by an index that begins with `user` and
 * goes on with `places`. It is written as a range of that index: with the user as a constant
 * PostgreSQL may follow the places of everybody instead.
 *
 * @example
 * ofOneUser('l.user_id', { 'l.seq': ':seq' })
 */
export function ofOneUser(user: string, places: Readonly<Record<string, string>>): string {
  const columns = [user, ...Object.keys(places)]
  const place = [':user_id', ...Object.values(places)]
  return `${user} >= :user_id AND (${columns.join(', ')}) < (${place.join(', ')})
    ORDER BY ${columns.map((column) => `${column} DESC`).join(', ')} LIMIT {{unplanned :limit}}`
}
