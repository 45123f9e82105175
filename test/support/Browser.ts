import { Effect } from "effect"
import { type Answer, api, type Call } from "./TestApp.ts"

interface Cookie {
  readonly value: string
  /** Attributes by their lower-case names; flags are true. */
  readonly attributes: Readonly<Record<string, string | true>>
}

const parsed = (line: string): readonly [name: string, cookie: Cookie] => {
  const [pair = "", ...attributes] = line.split(";").map((part) => part.trim())
  const end = pair.indexOf("=")
  return [pair.slice(0, end), {
    value: pair.slice(end + 1),
    attributes: Object.fromEntries(attributes.map((one) => {
      const [name = "", ...value] = one.split("=")
      return [name.toLowerCase(), value.length === 0 ? true as const : value.join("=")]
    }))
  }]
}

const isGone = ({ attributes }: Cookie): boolean =>
  attributes["max-age"] === "0" ||
  (typeof attributes["expires"] === "string" && new Date(attributes["expires"]) < new Date())

/** A page of a shop in a browser: it keeps cookies and says where its requests come from. */
export interface Browser {
  readonly call: (method: string, path: string, options?: Call) => ReturnType<typeof api>
  readonly post: (path: string, body?: object) => ReturnType<typeof api>
  readonly get: (path: string) => ReturnType<typeof api>
  readonly cookies: ReadonlyMap<string, Cookie>
  /** Sets a cookie as an attacker would who can. */
  readonly plant: (name: string, value: string) => void
}

/** An origin that a deployment trusts outside of production. */
export const shopOrigin = "http://localhost:3000"

/** A browser without cookies. */
export const makeBrowser = (origin = shopOrigin): Browser => {
  const cookies = new Map<string, Cookie>()
  const keep = (answer: Answer) =>
    Effect.sync(() => {
      for (const line of answer.headers.getSetCookie()) {
        const [name, cookie] = parsed(line)
        if (isGone(cookie)) cookies.delete(name)
        else cookies.set(name, cookie)
      }
    })
  const call: Browser["call"] = (method, path, options = {}) =>
    Effect.tap(
      Effect.suspend(() =>
        api(method, path, {
          ...options,
          headers: {
            origin,
            ...cookies.size === 0
              ? {}
              : { cookie: [...cookies].map(([name, { value }]) => `${name}=${value}`).join("; ") },
            ...options.headers
          }
        })
      ),
      keep
    )
  return {
    call,
    post: (path, body) => call("POST", path, body === undefined ? {} : { body }),
    get: (path) => call("GET", path),
    cookies,
    plant: (name, value) => {
      cookies.set(name, { value, attributes: {} })
    }
  }
}
