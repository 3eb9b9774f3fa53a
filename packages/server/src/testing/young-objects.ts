/**
 * Room for young objects from the start, in MiB, at most as much as `npm start` gives. V8 begins
 * with one and doubles it, by collections that are a tenth of what a short life computes.
 */
export const youngObjects = ['--min-semi-space-size=16', '--max-semi-space-size=32']
