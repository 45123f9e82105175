/** Lifetime of the cookie in seconds: longer than people wait for a mail. */
const lifeSeconds = 604_800

/** The header that passes existing nonces of the browser to the sign-up. */
export const nonceHeader = "x-stoa-sign-up-nonce"

const plain = "uc.sign_up"
// Browsers accept a cookie of this name from the host alone: a page of a sibling domain cannot set one.
const hostOnly = `__Host-${plain}`

const pattern = /^(?:__Host-)?uc\.sign_up=[\w-]{43}$/

const cookiesIn = (header: string): ReadonlyArray<string> => header.split(";").map((one) => one.trim())

/** The cookies with a nonce, without any others. */
export const noncesIn = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}

/**
 * The nonce of a browser that signed up; undefined without one. Only under the name of this deployment: where it is that of
 * a host-only cookie, another host may have set the plain one.
 */
export const nonceOf = (cookies: string | undefined, secure: boolean): string | undefined => {
  const name = `${secure ? hostOnly : plain}=`
  return cookiesIn(cookies ?? "").find((one) => one.startsWith(name) && pattern.test(one))?.slice(name.length)
}

/** The cookie that stores a nonce, which scripts cannot read and links send; without a nonce, the cookie that removes it. */
export const nonceCookie = (nonce: string | undefined, secure: boolean): string =>
  `${secure ? hostOnly : plain}=${nonce ?? ""}; Path=/; Max-Age=${nonce === undefined ? 0 : lifeSeconds}; HttpOnly; ` +
  `SameSite=Lax${secure ? "; Secure" : ""}`

/** The cookies without nonces: a nonce authenticates no user, so it does not affect the checks of a request. */
export const withoutNonce = (cookies: string | undefined): string | undefined => {
  const kept = cookiesIn(cookies ?? "").filter((one) => one !== "" && !pattern.test(one))
  return kept.length === 0 ? undefined : kept.join("; ")
}
