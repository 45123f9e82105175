import { createHash } from "node:crypto"

/** Shorter than a slug may be: something that makes it unique can follow. */
const maxLength = 200

const shortId = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8)

/**
 * Makes a slug of a name in any script: letters and digits in lower case, Latin ones without accents. A name without any,
 * for example of emoji, gets a short id, which is always the same.
 */
export const slugOf = (name: string): string => {
  const text = name.trim().normalize("NFC")
  const slug = text.toLowerCase().normalize("NFD")
    .replace(/(\p{Script=Latin})\p{Mn}+/gu, "$1")
    .normalize("NFC")
    .replace(/[^\p{L}\p{N}\p{M}]+/gu, "-")
    .replace(/^-|-$/g, "")
  if (slug === "" || slug.length > maxLength) {
    return [slug.slice(0, maxLength - 9), shortId(text)].filter(Boolean).join("-")
  }
  return slug
}
