import { Schema } from "effect"
import { Cookies, HttpServerResponse } from "effect/http"

/** An answer as it is kept for whoever comes again with its key; cookies as `Set-Cookie` has them. */
const StoredAnswer = Schema.fromJsonString(
  Schema.Struct({
    body: Schema.String,
    headers: Schema.Record(Schema.String, Schema.String),
    cookies: Schema.Array(Schema.String)
  })
)
const encode = Schema.encodeSync(StoredAnswer)
const decode = Schema.decodeSync(StoredAnswer)

/** The text of an answer that is to be given again: body, headers of its own and cookies. The edge adds the others. */
export const stored = ({ body, cookies, headers }: HttpServerResponse.HttpServerResponse): string =>
  encode({
    body: body._tag === "Uint8Array" ? new TextDecoder().decode(body.body) : "",
    headers: { ...headers },
    cookies: Cookies.toSetCookieHeaders(cookies)
  })

/** The answer of such a text. */
export const givenAgain = (status: number, text: string): HttpServerResponse.HttpServerResponse => {
  const { body, cookies, headers } = decode(text)
  const { "content-length": _length, "content-type": contentType = "application/json", ...others } = headers
  return HttpServerResponse.text(body, { status, contentType, headers: others }).pipe(
    HttpServerResponse.mergeCookies(Cookies.fromSetCookie(cookies))
  )
}
