import { hash } from "node:crypto"

/** Session tokens are 32 letters and digits. */
export const tokenForm = /^[A-Za-z0-9]{32}$/

/** The stored form of a session's token: its SHA-256 in hexadecimal, which cannot be used to sign in. */
export const tokenDigest = (token: string): string => hash("sha256", token, "hex")
