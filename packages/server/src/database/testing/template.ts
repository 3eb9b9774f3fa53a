/** A database with the whole schema: copying it is faster than migrating an empty one. */
export const migratedTemplate = 'migrated_template'

/** Newer than every binary, so that any recorded migration allows it. */
export const testVersion = '999.0.0'
