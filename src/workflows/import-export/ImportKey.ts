import { createHash } from "node:crypto"
import type { Actor } from "../../domain/access/Actor.ts"

/** A caller's own key: two callers may choose the same text. What was sent is kept by nobody. */
export const importKey = ({ keyId, type, userId }: Actor, key: string): string =>
  createHash("sha256").update(JSON.stringify([type, keyId ?? userId, key])).digest("hex")
