import { BlockList, isIP, SocketAddress } from 'node:net'

/** An address of a name, as the resolver gives it. */
export type ResolvedAddress = { address: string; family: 4 | 6 }

type Range = readonly [network: string, prefix: number]

/** Ranges that belong to one's own network: `allow_private_networks` opens them. */
const privateRanges: readonly Range[] = [
  ['10.0.0.0', 8],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['::1', 128],
  ['fc00::', 7],
  ['fe80::', 10],
]

/** Ranges that no server of the public internet has. */
const reservedRanges: readonly Range[] = [
  ['0.0.0.0', 8],
  ['100.64.0.0', 10],
  ['192.0.0.0', 24],
  ['192.0.2.0', 24],
  ['192.88.99.0', 24],
  ['198.18.0.0', 15],
  ['198.51.100.0', 24],
  ['203.0.113.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
  ['::', 96],
  ['fec0::', 10],
  ['ff00::', 8],
  ['100::', 64],
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
]

/** Where clouds keep the credentials of a machine. Nothing opens them. */
const metadataRanges: readonly Range[] = [
  ['169.254.169.254', 32],
  ['fd00:ec2::254', 128],
]

const privateNetworks = blockList(privateRanges)
const reservedNetworks = blockList(reservedRanges)
const metadataServices = blockList(metadataRanges)

/**
 * Whether a request may go to the address. An IPv4 address inside an IPv6 one (`::ffff:0:0/96`,
 * `64:ff9b::/96`) is judged by itself.
 */
export function mayCall({ address, family }: ResolvedAddress, allowPrivate: boolean): boolean {
  if (isIP(address) !== family) return false
  const inner = family === 6 ? innerIpv4(address) : undefined
  if (inner !== undefined) return mayCall({ address: inner, family: 4 }, allowPrivate)
  const type = family === 4 ? 'ipv4' : 'ipv6'
  if (metadataServices.check(address, type)) return false
  if (privateNetworks.check(address, type)) return allowPrivate
  return !reservedNetworks.check(address, type)
}

/** The IPv4 address that an IPv6 one carries, if it is of a range that does. */
function innerIpv4(address: string): string | undefined {
  const groups = groupsOf(address)
  const [high = 0, low = 0] = groups.slice(6)
  const isMapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  const isTranslated =
    groups[0] === 0x64 && groups[1] === 0xff9b && groups.slice(2, 6).every((group) => group === 0)
  if (!isMapped && !isTranslated) return undefined
  return [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.')
}

/** The eight groups of an IPv6 address; a dotted tail counts as two. */
function groupsOf(address: string): number[] {
  const [unzoned = ''] = address.split('%')
  const spelled = new SocketAddress({ address: unzoned, family: 'ipv6' }).address
  const plain = spelled.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_all, ...bytes: string[]) => {
    const [a = 0, b = 0, c = 0, d = 0] = bytes.slice(0, 4).map(Number)
    return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
  })
  const [head = '', tail] = plain.split('::')
  const left = parseGroups(head)
  const right = parseGroups(tail ?? '')
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length
  return [...left, ...Array<number>(zeros).fill(0), ...right]
}

function parseGroups(text: string): number[] {
  return text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
}

function blockList(ranges: readonly Range[]): BlockList {
  const list = new BlockList()
  for (const [network, prefix] of ranges) {
    list.addSubnet(network, prefix, network.includes(':') ? 'ipv6' : 'ipv4')
  }
  return list
}
