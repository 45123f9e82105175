import { Headers } from "effect/http"

/** Headers that decide who makes a call and as what the journal of changes names him. */
const ofCaller = ["x-api-key", "authorization", "x-organization-id", "user-agent"] as const

/**
 * The headers of a call over those of the request that opened its connection. Most calls are asked for two or three of them,
 * so they are put together only for whoever needs all. Cookies are a browser's, which sends them from pages of strangers
 * too: at `/rpc` they are nobody's.
 */
export class CallHeaders {
  readonly #opening: Headers.Headers
  readonly #sent: Headers.Headers
  #all: Headers.Headers | undefined = undefined

  constructor(opening: Headers.Headers, sent: Headers.Headers) {
    this.#opening = opening
    this.#sent = sent
  }

  /** One of them by its name in lower case; cookies are not asked for here. */
  get(name: string): string | undefined {
    return this.#sent[name] ?? this.#opening[name]
  }

  get all(): Headers.Headers {
    if (this.#all !== undefined) return this.#all
    const merged = Headers.merge(this.#opening, this.#sent)
    return this.#all = merged["cookie"] === undefined ? merged : Headers.remove(merged, "cookie")
  }

  /** Whether both show the same caller. */
  showsTheSameAs(other: CallHeaders): boolean {
    for (const name of ofCaller) {
      if (this.get(name) !== other.get(name)) return false
    }
    return true
  }
}
