import { createHmac, randomBytes } from "node:crypto"
import type { Answer, Call } from "./ShopServer.ts"

const refused = (error: string, error_description: string): Answer => ({
  status: 400,
  body: { error, error_description }
})

/** Tokens of the one app that the emulated Shopify knows. */
export class ShopifyTokens {
  readonly clientId = "emulated-client"
  readonly clientSecret = "emulated-secret"
  /** The token of a custom app, which does not end. */
  readonly permanent = "shpat_permanent"
  /** Lifetime of tokens that end. */
  seconds = 3_600
  /** Since August 2026 a refresh token can be repeated until the next one is used. Otherwise it serves once. */
  repeatable = false
  /** When each token ends; null: never. */
  private readonly tokens = new Map<string, number | null>([[this.permanent, null]])
  private readonly codes = new Set<string>()
  private readonly refreshes = new Map<string, { readonly before: string | null; answer: Answer | undefined }>()
  private readonly now: () => number
  private readonly domain: string

  constructor(now: () => number, domain: string) {
    this.now = now
    this.domain = domain
  }

  isValid(token: string | undefined): boolean {
    const end = token === undefined ? undefined : this.tokens.get(token)
    return end === null || end !== undefined && end > this.now()
  }

  /** Ends every token, and with `refreshes` every refresh token too, as the removal of the app does. */
  revoke({ refreshes }: { readonly refreshes: boolean }): void {
    this.tokens.clear()
    if (refreshes) this.refreshes.clear()
  }

  /** The merchant agrees at once. */
  authorize({ query }: Call): Answer {
    const redirect = query.get("redirect_uri")
    if (query.get("client_id") !== this.clientId || redirect === null) {
      return refused("invalid_request", "Could not find the app.")
    }
    const code = randomBytes(8).toString("hex")
    this.codes.add(code)
    const fields = {
      code,
      host: Buffer.from(`${this.domain}/admin`).toString("base64url"),
      shop: this.domain,
      state: query.get("state") ?? "",
      timestamp: String(Math.floor(this.now() / 1000))
    }
    const message = Object.entries(fields).map(([name, value]) => `${name}=${value}`).join("&")
    const hmac = createHmac("sha256", this.clientSecret).update(message).digest("hex")
    const location = new URL(redirect)
    for (const [name, value] of Object.entries({ ...fields, hmac })) location.searchParams.set(name, value)
    return { status: 302, headers: { location: location.href }, body: "" }
  }

  /** Exchanges a code, a refresh token or the credentials of the app for a token. */
  grant({ body, headers }: Call): Answer {
    const json: unknown = headers["content-type"]?.includes("json")
      ? JSON.parse(body)
      : Object.fromEntries(new URLSearchParams(body))
    const fields = new Map(
      Object.entries(typeof json === "object" && json !== null ? json : {}).map((
        [name, value]
      ) => [name, String(value)])
    )
    const known = fields.get("client_id") === this.clientId && fields.get("client_secret") === this.clientSecret
    if (!known) return refused("invalid_client", "Client authentication failed.")
    if (fields.get("grant_type") === "client_credentials") return this.issue(86_399)
    if (fields.get("grant_type") === "refresh_token") return this.refresh(fields.get("refresh_token") ?? "")
    if (!this.codes.delete(fields.get("code") ?? "")) {
      return refused("invalid_request", "The authorization code was not found or was already used.")
    }
    return fields.get("expiring") === "1" ? this.pair(null) : this.issue(null)
  }

  private refresh(token: string): Answer {
    const known = this.refreshes.get(token)
    const gone = refused("invalid_grant", "The refresh token is invalid, expired or was already used.")
    if (known === undefined) return gone
    if (known.answer !== undefined) return this.repeatable ? known.answer : gone
    if (known.before !== null) this.refreshes.delete(known.before)
    known.answer = this.pair(token)
    return known.answer
  }

  private pair(before: string | null): Answer {
    const refresh_token = `shprt_${randomBytes(8).toString("hex")}`
    this.refreshes.set(refresh_token, { before, answer: undefined })
    return this.issue(this.seconds, { refresh_token, refresh_token_expires_in: 7_776_000 })
  }

  private issue(seconds: number | null, more: object = {}): Answer {
    const access_token = `shpat_${randomBytes(8).toString("hex")}`
    this.tokens.set(access_token, seconds === null ? null : this.now() + seconds * 1000)
    const scope = "read_products,write_inventory,write_orders"
    return { status: 200, body: { access_token, scope, ...seconds === null ? {} : { expires_in: seconds }, ...more } }
  }
}
