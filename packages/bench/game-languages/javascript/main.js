/// <reference path="../../../server/guildhall.d.ts" />

/** What the benchmark of languages calls: nothing but the way there and back. */
guildhall.on_rpc('echo', (_ctx, body) => body)
