import { assert, describe, it } from "@effect/vitest"
import { InvalidatedCache } from "../../src/domain/access/InvalidatedCache.ts"
import { cookieNamed, sentCredentials } from "../../src/domain/access/SentCredential.ts"
import { signToken, verifiedToken } from "../../src/domain/access/SignedToken.ts"

const name = "uc.session_token"
const tags = (headers: Record<string, string>) => sentCredentials(headers, name).map(({ _tag }) => _tag)

describe("the credentials of a request", () => {
  it("are none where no header speaks of any", () => {
    assert.deepStrictEqual(tags({ accept: "*/*", cookie: "theme=dark" }), [])
  })

  it("are a bearer's alone, else a cookie's before a key's", () => {
    assert.deepStrictEqual(tags({ authorization: "Bearer a", cookie: `${name}=b`, "x-api-key": "c" }), ["Bearer"])
    assert.deepStrictEqual(tags({ cookie: `${name}=b`, "x-api-key": "c" }), ["Cookie", "Key"])
  })

  it("are unknown where another scheme stands alone, which may be a proxy's beside others", () => {
    assert.deepStrictEqual(tags({ authorization: "Basic YTpi" }), ["Unknown"])
    assert.deepStrictEqual(tags({ authorization: "Basic YTpi", "x-api-key": "c" }), ["Key"])
    assert.deepStrictEqual(tags({ authorization: "", "x-api-key": "" }), ["Key"])
  })

  it("are in the cookie of exactly that name, quoted or not, and not in an empty one", () => {
    assert.strictEqual(cookieNamed(`x${name}=a; ${name}.old=b;  ${name}="c=="`, name), "c==")
    assert.strictEqual(cookieNamed(`${name}=; other`, name), undefined)
  })
})

describe("a signed token", () => {
  const signed = signToken("token", "secret")

  it("opens with its own signature, encoded or not", () => {
    assert.strictEqual(verifiedToken(signed, "secret"), "token")
    assert.strictEqual(verifiedToken(encodeURIComponent(signed), "secret"), "token")
  })

  it("opens with nothing else", () => {
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

describe("a watched cache", () => {
  const heard = (capacity = 3) => {
    const cache = new InvalidatedCache<string>({ capacity, lifeMs: 100 })
    cache.listen(true)
    return cache
  }

  it("remembers for its time", () => {
    const cache = heard()
    cache.keep("a", "A", [], 0, cache.changes)
    assert.deepStrictEqual([cache.find("a", 99), cache.find("a", 100)], ["A", undefined])
    assert.strictEqual(cache.size, 0)
  })

  it("remembers nothing while nobody tells it of changes, and forgets everything when that ends", () => {
    const cache = new InvalidatedCache<string>({ capacity: 3, lifeMs: 100 })
    cache.keep("a", "A", [], 0, cache.changes)
    assert.strictEqual(cache.find("a", 1), undefined)
    cache.listen(true)
    cache.keep("a", "A", [], 0, cache.changes)
    cache.listen(false)
    assert.strictEqual(cache.find("a", 1), undefined)
  })

  it("forgets what depends on a change and nothing else", () => {
    const cache = heard()
    cache.keep("a", "A", ["s1", "u1"], 0, cache.changes)
    cache.keep("b", "B", ["s2", "u1"], 0, cache.changes)
    cache.keep("c", "C", ["s3", "u2"], 0, cache.changes)
    cache.forget("s1")
    assert.deepStrictEqual([cache.find("a", 1), cache.find("b", 1)], [undefined, "B"])
    cache.forget("u1")
    assert.deepStrictEqual([cache.find("b", 1), cache.find("c", 1)], [undefined, "C"])
  })

  it("does not keep what was read before a change", () => {
    const cache = heard()
    const since = cache.changes
    cache.forget("s1")
    cache.keep("a", "A", ["s1"], 0, since)
    assert.strictEqual(cache.find("a", 1), undefined)
  })

  it("drops the oldest when there is too much", () => {
    const cache = heard(2)
    for (const one of ["a", "b", "c"]) cache.keep(one, one, [`s${one}`], 0, cache.changes)
    assert.deepStrictEqual([cache.find("a", 1), cache.find("b", 1), cache.find("c", 1)], [undefined, "b", "c"])
    assert.strictEqual(cache.size, 2)
  })
})
