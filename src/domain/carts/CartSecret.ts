import { createHash, randomBytes } from "node:crypto"

/** A new cart secret: 192 random bits. It alone gives access to a guest's cart. */
export const newCartSecret = (): string => randomBytes(24).toString("base64url")

/** The stored hash of a secret: a copy of the database opens no cart. */
export const hashCartSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")
