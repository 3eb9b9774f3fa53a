/** Style sheets go into the page's one style. */
declare module '*.css'
