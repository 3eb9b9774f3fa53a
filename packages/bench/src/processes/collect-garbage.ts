/**
 * Loaded before the product, so that memory can be compared without what merely has not been
 * collected yet: on SIGUSR2 the process collects its garbage.
 */
process.on('SIGUSR2', () => globalThis.gc?.())
