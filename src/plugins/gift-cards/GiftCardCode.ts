import { randomInt } from "node:crypto"

/** Without 0, O, 1, I and L, which people mistake. */
const alphabet = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"

/** A new code of as many signs as the format has `X`. `randomInt` prefers none. */
export const newCode = (format: string): string =>
  format.replace(/[^X]/g, "").replace(/X/g, () => alphabet.charAt(randomInt(alphabet.length)))

/** A code as people read it: `ABCD-EFGH-JKMN-7K2M`. */
export const displayed = (code: string, format: string): string => {
  const signs = [...code]
  return format.replace(/X/g, () => signs.shift() ?? "")
}

/** A code as it was drawn, out of what somebody typed. */
export const plainCode = (typed: string): string => typed.replace(/[\s-]/g, "").toUpperCase()

export const lastFourOf = (code: string): string => code.slice(-4)

/** What is stored of a code: its digests under all keys of the deployment, by which its card is found, and the last signs. */
export interface ConcealedCode {
  readonly digests: ReadonlyArray<string>
  readonly lastFour: string
}

export const concealed = (digests: (text: string) => ReadonlyArray<string>, typed: string): ConcealedCode => {
  const code = plainCode(typed)
  return { digests: digests(code), lastFour: lastFourOf(code) }
}

/** The same as a text, for the payment of a checkout. */
export const tokenOf = ({ digests, lastFour }: ConcealedCode): string => [lastFour, ...digests].join(" ")

export const readToken = (token: string): ConcealedCode => {
  const [lastFour = "", ...digests] = token.split(" ")
  return { lastFour, digests }
}
