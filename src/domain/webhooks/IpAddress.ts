/** An address as its bytes: 4 for IPv4, 16 for IPv6. */
export type IpAddress = ReadonlyArray<number>

const decimal = /^(0|[1-9]\d{0,2})$/

const parseIpv4 = (text: string): IpAddress | undefined => {
  const parts = text.split(".")
  if (parts.length !== 4 || !parts.every((part) => decimal.test(part))) return undefined
  const bytes = parts.map(Number)
  return bytes.every((byte) => byte <= 255) ? bytes : undefined
}

/** The bytes of groups separated by colons, the last of which may be an IPv4 address. */
const groupsOf = (text: string): ReadonlyArray<number> | undefined => {
  if (text === "") return []
  const bytes: Array<number> = []
  const parts = text.split(":")
  for (const [index, part] of parts.entries()) {
    const embedded = index === parts.length - 1 && part.includes(".") ? parseIpv4(part) : undefined
    if (embedded !== undefined) bytes.push(...embedded)
    else if (/^[\da-f]{1,4}$/i.test(part)) bytes.push(parseInt(part, 16) >> 8, parseInt(part, 16) & 255)
    else return undefined
  }
  return bytes
}

const parseIpv6 = (text: string): IpAddress | undefined => {
  const halves = text.split("::")
  if (halves.length > 2) return undefined
  const [head, tail] = halves.map(groupsOf)
  if (head === undefined || (halves.length === 2 && tail === undefined)) return undefined
  if (halves.length === 1) return head.length === 16 ? head : undefined
  const missing = 16 - head.length - (tail?.length ?? 0)
  // The double colon stands for one group at least.
  return missing < 2 ? undefined : [...head, ...Array.from({ length: missing }, () => 0), ...(tail ?? [])]
}

/**
 * Reads an address in the forms that resolvers and the URL parser give: four decimal numbers, or IPv6 without brackets.
 * Undefined for anything else, zones (`%eth0`) and numbers with leading zeros among it: what cannot be read here is not
 * connected to.
 */
export const parseIp = (text: string): IpAddress | undefined => text.includes(":") ? parseIpv6(text) : parseIpv4(text)

/** Is the address within the prefix of so many bits? Addresses of different kinds are never within one another. */
export const isWithin = (address: IpAddress, prefix: IpAddress, bits: number): boolean =>
  address.length === prefix.length &&
  prefix.every((byte, index) => {
    const covered = Math.min(8, Math.max(0, bits - index * 8))
    const mask = 256 - 2 ** (8 - covered)
    return ((address[index] ?? 0) & mask) === (byte & mask)
  })
