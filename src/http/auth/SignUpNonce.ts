/** Seconds that a browser keeps it: longer than anybody waits for a mail. */
const lifeSeconds = 604_800

/** The header that tells who signs somebody up what his browser keeps already. */
export const nonceHeader = "x-stoa-sign-up-nonce"

const plain = "uc.sign_up"
// Browsers take a cookie of this name from the host itself alone: a page of a sister domain cannot plant one.
const hostOnly = `__Host-${plain}`

const pattern = /^(?:__Host-)?uc\.sign_up=[\w-]{43}$/

const cookiesIn = (header: string): ReadonlyArray<string> => header.split(";").map((one) => one.trim())

/** The cookies that may hold a nonce, and no others. */
export const noncesIn = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

/**
 * The nonce that a browser keeps since it signed somebody up; undefined where it keeps none. Only under the name that it
 * was given: where that is a name for the host alone, anybody may have planted the other one.
 */
export const nonceOf = (cookies: string | undefined, secure: boolean): string | undefined => {
  const name = `${secure ? hostOnly : plain}=`
  return cookiesIn(cookies ?? "").find((one) => one.startsWith(name) && pattern.test(one))?.slice(name.length)
}

/**
 * What has a browser keep a nonce, out of reach of scripts, and bring it along when a link is followed; without a nonce,
 * what has it keep none any more.
 */
export const nonceCookie = (nonce: string | undefined, secure: boolean): string =>
  `${secure ? hostOnly : plain}=${nonce ?? ""}; Path=/; Max-Age=${nonce === undefined ? 0 : lifeSeconds}; HttpOnly; ` +
  `SameSite=Lax${secure ? "; Secure" : ""}`

/** The cookies without it: it authenticates nobody, so a request is judged as if it were not there. */
export const withoutNonce = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => one !== "" && !pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}
