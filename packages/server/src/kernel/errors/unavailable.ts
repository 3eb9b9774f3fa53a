/**
 * What the node needs for its work is not there now, e.g. the database: no bug, and it may be tried
 * again.
 */
export class Unavailable extends Error {}
