import { assert, describe, it } from "@effect/vitest"
import { InvalidatedCache } from "../../src/domain/platform/access/CacheInvalidation.ts"
import {
  cookieNamed,
  sentCredentials,
  signToken,
  verifiedToken
} from "../../src/domain/platform/access/SentCredential.ts"

const name = "uc.session_token"
const tags = (headers: Record<string, string>) => sentCredentials(headers, name).map(({ _tag }) => _tag)

describe("the credentials of a request", () => {
  it("the credentials of a request are none without a header for them", () => {
    assert.deepStrictEqual(tags({ accept: "*/*", cookie: "theme=dark" }), [])
  })

  it("the credentials of a request are a bearer token alone, else a cookie before a key", () => {
    assert.deepStrictEqual(tags({ authorization: "Bearer a", cookie: `${name}=b`, "x-api-key": "c" }), ["Bearer"])
    assert.deepStrictEqual(tags({ cookie: `${name}=b`, "x-api-key": "c" }), ["Cookie", "Key"])
  })

  it("the credentials of a request are unknown with another scheme alone, which may be for a proxy beside others", () => {
    assert.deepStrictEqual(tags({ authorization: "Basic YTpi" }), ["Unknown"])
    assert.deepStrictEqual(tags({ authorization: "Basic YTpi", "x-api-key": "c" }), ["Key"])
    assert.deepStrictEqual(tags({ authorization: "", "x-api-key": "" }), ["Key"])
  })

  it("the credentials of a request are in the cookie of exactly that name, quoted or not, and not in an empty one", () => {
    assert.strictEqual(cookieNamed(`x${name}=a; ${name}.old=b;  ${name}="c=="`, name), "c==")
    assert.strictEqual(cookieNamed(`${name}=; other`, name), undefined)
  })
})

describe("a signed token", () => {
  const signed = signToken("token", "secret")

  it("a signed token is accepted with the right signature, encoded or not", () => {
    assert.strictEqual(verifiedToken(signed, "secret"), "token")
    assert.strictEqual(verifiedToken(encodeURIComponent(signed), "secret"), "token")
  })

  it("a signed token is refused with any other signature", () => {
    const forged = [
      signToken("token", "another"),
      signed.replace("token", "t0ken"),
      signed.slice(0, -3),
      "token",
      "token.",
      ".",
      "",
      "%",
      "%E0%A4%A",
      `${signed}%`
    ]
    assert.deepStrictEqual(forged.filter((text) => verifiedToken(text, "secret") !== undefined), [])
  })
})

describe("an invalidated cache", () => {
  const listening = (capacity = 3) => {
    const cache = new InvalidatedCache<string>({ capacity, lifeMs: 100 })
    cache.listen(true)
    return cache
  }

  it("an invalidated cache keeps a value for its lifetime", () => {
    const cache = listening()
    cache.keep("a", "A", [], 0, cache.changes)
    assert.deepStrictEqual([cache.find("a", 99), cache.find("a", 100)], ["A", undefined])
    assert.strictEqual(cache.size, 0)
  })

  it("an invalidated cache keeps nothing without notifications, and drops everything when they end", () => {
    const cache = new InvalidatedCache<string>({ capacity: 3, lifeMs: 100 })
    cache.keep("a", "A", [], 0, cache.changes)
    assert.strictEqual(cache.find("a", 1), undefined)
    cache.listen(true)
    cache.keep("a", "A", [], 0, cache.changes)
    cache.listen(false)
    assert.strictEqual(cache.find("a", 1), undefined)
  })

  it("an invalidated cache drops the values that depend on a change and no others", () => {
    const cache = listening()
    cache.keep("a", "A", ["s1", "u1"], 0, cache.changes)
    cache.keep("b", "B", ["s2", "u1"], 0, cache.changes)
    cache.keep("c", "C", ["s3", "u2"], 0, cache.changes)
    cache.forget("s1")
    assert.deepStrictEqual([cache.find("a", 1), cache.find("b", 1)], [undefined, "B"])
    cache.forget("u1")
    assert.deepStrictEqual([cache.find("b", 1), cache.find("c", 1)], [undefined, "C"])
  })

  it("an invalidated cache does not keep a value that was read before a change", () => {
    const cache = listening()
    const since = cache.changes
    cache.forget("s1")
    cache.keep("a", "A", ["s1"], 0, since)
    assert.strictEqual(cache.find("a", 1), undefined)
  })

  it("an invalidated cache drops the oldest values when it is full", () => {
    const cache = listening(2)
    for (const one of ["a", "b", "c"]) cache.keep(one, one, [`s${one}`], 0, cache.changes)
    assert.deepStrictEqual([cache.find("a", 1), cache.find("b", 1), cache.find("c", 1)], [undefined, "b", "c"])
    assert.strictEqual(cache.size, 2)
  })
})
