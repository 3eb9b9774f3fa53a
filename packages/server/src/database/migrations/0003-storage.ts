import type { Migration } from './migration.ts'

/**
 * Stored objects and the declared indexes over them.
 *
 * The system's objects have the empty user id, which no user can have: so they come first in every
 * order. `bytes` is the length of the value, so that whoever reads many knows their size
 * before they are read.
 *
 * An index has an id of its own for each definition that it ever had. One that changed or is gone
 * is `dropped`: its entries mean nothing from then on and are removed in batches. An entry is one
 * field of one object; an object that an index covers also has one with the empty field, which no
 * declared field can be. Where an index asks a filter and nobody can answer, the object is pending.
 *
 * Every transaction that writes objects first shares the one row of `storage_index_guard`; whoever
 * changes the set of indexes locks it and moves its epoch. So a definition is in force for every
 * write that commits after it, on all nodes, whatever each of them was configured with.
 */
export const storage: Migration = {
  number: 3,
  name: 'storage',
  oldestBinary: '0.1.0',
  steps: [
    `CREATE TABLE storage_objects (
      collection {{text}} NOT NULL,
      user_id {{text}} NOT NULL,
      key {{text}} NOT NULL,
      version {{text}} NOT NULL,
      read_permission {{bigint}} NOT NULL CHECK (read_permission IN (0, 1, 2)),
      write_permission {{bigint}} NOT NULL CHECK (write_permission IN (0, 1)),
      bytes {{bigint}} NOT NULL,
      value {{text}} NOT NULL,
      PRIMARY KEY (collection, user_id, key)
    ) {{strict}}`,
    `CREATE INDEX storage_objects_user ON storage_objects (user_id, collection, key)
      WHERE user_id <> ''`,
    `CREATE TABLE storage_collections (
      collection {{text}} NOT NULL PRIMARY KEY,
      objects {{bigint}} NOT NULL
    ) {{strict}}`,
    `CREATE TABLE storage_index_guard (
      name {{text}} NOT NULL PRIMARY KEY,
      epoch {{bigint}} NOT NULL
    ) {{strict}}`,
    "INSERT INTO storage_index_guard (name, epoch) VALUES ('indexes', 1)",
    // The cursor is the last object that the building of the index has looked at.
    `CREATE TABLE storage_indexes (
      id {{identity}},
      name {{text}} NOT NULL,
      collection {{text}} NOT NULL,
      key {{text}},
      fields {{text}} NOT NULL,
      filtered {{bigint}} NOT NULL CHECK (filtered IN (0, 1)),
      state {{text}} NOT NULL CHECK (state IN ('building', 'ready', 'dropped')),
      cursor_user_id {{text}} NOT NULL,
      cursor_key {{text}} NOT NULL
    ) {{strict}}`,
    `CREATE UNIQUE INDEX storage_indexes_name ON storage_indexes (name)
      WHERE state <> 'dropped'`,
    `CREATE TABLE storage_index_entries (
      index_id {{bigint}} NOT NULL,
      field {{text}} NOT NULL,
      value {{text}} NOT NULL,
      user_id {{text}} NOT NULL,
      key {{text}} NOT NULL,
      PRIMARY KEY (index_id, field, value, user_id, key)
    ) {{clustered}}`,
    `CREATE INDEX storage_index_entries_object
      ON storage_index_entries (index_id, user_id, key)`,
    `CREATE TABLE storage_index_pending (
      index_id {{bigint}} NOT NULL,
      user_id {{text}} NOT NULL,
      key {{text}} NOT NULL,
      PRIMARY KEY (index_id, user_id, key)
    ) {{clustered}}`,
  ],
}
