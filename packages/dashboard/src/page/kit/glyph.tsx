/** Line drawings of 16 by 16; they are never all that says what something is. */
const paths = {
  home: 'M2 7.5 8 3l6 4.5M3.5 7v6h9V7',
  person: 'M8 8a2.6 2.6 0 1 0 0-5.2A2.6 2.6 0 0 0 8 8zm-5 5.2c.6-2.6 2.6-3.7 5-3.7s4.4 1.1 5 3.7',
  people:
    'M6 7.5a2.2 2.2 0 1 0 0-4.4 2.2 2.2 0 0 0 0 4.4zM1.8 12.8' +
    'c.5-2.3 2.2-3.3 4.2-3.3s3.7 1 4.2 3.3M10.5 3.4a2.2 2.2 0 0 1 0 4M11.5 9.8c1.5.3 2.4 1.3 2.7 3',
  chat: 'M2.5 3.5h11v7.5H7l-3 2.5V11H2.5z',
  bell: 'M4 11V7a4 4 0 0 1 8 0v4l1.2 1.2H2.8zM6.8 13.8h2.4',
  box: 'M2.5 5 8 2.5 13.5 5v6L8 13.5 2.5 11zM2.5 5 8 7.5 13.5 5M8 7.5v6',
  trophy:
    'M5 2.5h6v4a3 3 0 0 1-6 0zM5 3.5H2.8c0 2.5.9 3.3 2.2 3.3M11 3.5h2.2' +
    'c0 2.5-.9 3.3-2.2 3.3M8 9.5v2.5M5.5 13.5h5',
  flag: 'M3.5 14V2.5M3.5 3h8.5l-1.8 2.7L12 8.5H3.5',
  cart: 'M1.8 3h2l1.6 7.5h6.8L13.8 5H4.2M6.3 13.2h.01M11.3 13.2h.01',
  repeat: 'M3 7a5 5 0 0 1 9-2.2M13 9a5 5 0 0 1-9 2.2M12 2.2v2.8H9.2M4 13.8V11h2.8',
  key: 'M6 10.5a2.8 2.8 0 1 1 0-5.6 2.8 2.8 0 0 1 0 5.6zM8.8 7.7h5.2M12 7.7v2.3',
  book: 'M3 2.8h8.5a1 1 0 0 1 1 1v9.4H4a1 1 0 0 1-1-1zM5.5 5.8h4.5M5.5 8.3h4.5',
  gear:
    'M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 2v2M8 12v2M2 8h2M12 8h2M3.8 3.8l1.4 1.4' +
    'M10.8 10.8l1.4 1.4M3.8 12.2l1.4-1.4M10.8 5.2l1.4-1.4',
  play: 'M5 3.2v9.6l7.5-4.8z',
  list: 'M5.5 4h8M5.5 8h8M5.5 12h8M2.5 4h.01M2.5 8h.01M2.5 12h.01',
  pulse: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  alert: 'M8 2.5 14 13H2zM8 6.5v3M8 11.3h.01',
  table: 'M2.5 3.5h11v9h-11zM2.5 6.5h11M6.5 6.5v6',
  door: 'M4 13.5v-11h8v11M2.5 13.5h11M9.7 8h.01',
  nodes: 'M5.5 2.5h5v4h-5zM1.5 9.5h5v4h-5zM9.5 9.5h5v4h-5zM8 6.5v3',
  record: 'M3.5 2.5h6l3 3v8h-9zM9.5 2.5v3h3M6 9h4M6 11.2h4',
  search: 'M7 11.5a4.5 4.5 0 1 1 0-9 4.5 4.5 0 0 1 0 9zM10.3 10.3 14 14',
  copy: 'M5.5 5.5h7.5v7.5H5.5zM10.5 5.5V3H3v7.5h2.5',
  check: 'M3 8.5 6.5 12 13 4.5',
  cross: 'M4 4l8 8M12 4l-8 8',
  plus: 'M8 3v10M3 8h10',
  down: 'M4 6.5 8 10.5l4-4',
  left: 'M9.5 4 5.5 8l4 4',
  menu: 'M2.5 4.5h11M2.5 8h11M2.5 11.5h11',
  moon: 'M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5z',
  lag: 'M2 12.5a6 6 0 1 1 12 0M8 12.5l3-4',
} as const

export type GlyphName = keyof typeof paths

export function Glyph({ name }: { name: GlyphName }) {
  return (
    <svg className="glyph" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  )
}
