import { Context, Effect } from "effect"
import { hash, randomBytes } from "node:crypto"
import { nonceCookie, nonceHeader, nonceOf } from "../../http/auth/SignUpNonce.ts"

/** Digest of the nonce of the browser that is signing up; undefined outside a sign-up. */
export const SignUpBrowser = Context.Reference<string | undefined>("stoa/layers/auth/SignUpBrowser", {
  defaultValue: () => undefined
})

/** The stored form of a nonce. */
export const digestOf = (nonce: string): string => hash("sha256", nonce, "hex")

/**
 * Runs a sign-up and sets a nonce in the browser, which identifies it when the address is verified. Taken addresses get one
 * too, so that it reveals no account.
 */
export const rememberingBrowser = <A extends { readonly response: Response }, E, R>(
  request: Request,
  secure: boolean,
  signUp: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> => {
  // Keep an existing nonce: a form that is sent twice belongs to the account of the first time.
  const nonce = nonceOf(request.headers.get(nonceHeader) ?? undefined, secure) ?? randomBytes(32).toString("base64url")
  return Effect.map(Effect.provideService(signUp, SignUpBrowser, digestOf(nonce)), (answered) => {
    const { response } = answered
    if (response.status >= 400) return answered
    const headers = new Headers(response.headers)
    headers.append("set-cookie", nonceCookie(nonce, secure))
    return { ...answered, response: new Response(response.body, { status: response.status, headers }) }
  })
}
