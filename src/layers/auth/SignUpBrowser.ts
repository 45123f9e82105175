import { Context, Effect } from "effect"
import { hash, randomBytes } from "node:crypto"
import { nonceCookie, nonceHeader, nonceOf } from "../../http/auth/SignUpNonce.ts"

/** Digest of the nonce of the browser that is signing somebody up; none outside of a sign-up. */
export const SignUpBrowser = Context.Reference<string | undefined>("stoa/layers/auth/SignUpBrowser", {
  defaultValue: () => undefined
})

/** As it is stored. */
export const digestOf = (nonce: string): string => hash("sha256", nonce, "hex")

/**
 * Runs a sign-up, and has its browser keep a nonce by which it is known when the address is verified. Addresses that are
 * taken get one too: nobody learns from it who has an account.
 */
export const rememberingBrowser = <A extends { readonly response: Response }, E, R>(
  request: Request,
  secure: boolean,
  signUp: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  // One that is there stays: whoever sends the form twice is known by the account of the first time.
  const nonce = nonceOf(request.headers.get(nonceHeader) ?? undefined, secure) ?? randomBytes(32).toString("base64url")
  return Effect.map(Effect.provideService(signUp, SignUpBrowser, digestOf(nonce)), (answered) => {
    const { response } = answered
    if (response.status >= 400) return answered
    const headers = new Headers(response.headers)
    headers.append("set-cookie", nonceCookie(nonce, secure))
    return { ...answered, response: new Response(response.body, { status: response.status, headers }) }
  })
}
