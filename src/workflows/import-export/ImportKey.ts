import { createHash } from "node:crypto"
import type { Actor } from "../../domain/access/Actor.ts"

/** A key per caller, because two callers can choose the same text. Only its digest is stored. */
export const importKey = ({ keyId, type, userId }: Actor, key: string): string =>
  createHash("sha256").update(JSON.stringify([type, keyId ?? userId, key])).digest("hex")
