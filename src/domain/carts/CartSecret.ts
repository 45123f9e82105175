import { createHash, randomBytes } from "node:crypto"

/** A new secret of a guest's cart: 192 random bits. Whoever has it has the cart. */
export const newCartSecret = (): string => randomBytes(24).toString("base64url")

/** What is stored of a secret, so that a copy of the database opens nobody's cart. */
export const hashCartSecret = (secret: string): string => createHash("sha256").update(secret).digest("hex")
