import { createHash } from "node:crypto"

/** Where the chain of an organization ends; also where the next entry starts from. `hash` is hexadecimal. */
export interface Link {
  readonly position: number
  readonly hash: string
  readonly sequence: number
}

/**
 * The link of the next entry: SHA-256 over the hash before it, the digest of what the entry says, and its places. Whoever
 * changes an entry, takes one out or puts one in has to change the hash of every later one.
 */
export const linkAfter = (before: Link, digest: string, announced: boolean): Link => {
  const position = before.position + 1
  const sequence = announced ? before.sequence + 1 : before.sequence
  const hash = createHash("sha256")
    .update(`${before.hash}\n${digest}\n${position}\n${announced ? sequence : ""}`)
    .digest("hex")
  return { position, hash, sequence }
}
