import { assert, describe, it } from "vitest"
import { isObject, type Json } from "../../src/http/openapi/Json.ts"
import { readExamples } from "../../src/http/openapi/Recorded.ts"
import { neverSucceeding } from "../fuzz/NotOffered.ts"
import { bodies, exampleOf, refusalOf, served } from "./JsonBodies.ts"
import { secretsIn } from "./SampleValues.ts"
import { entriesOf } from "./WholeDocument.ts"

/** `core`, or the id of the plugin whose folder has the file. */
const ownerOf = ({ href }: URL): string => /\/plugins\/([^/]+)\/examples\.json$/.exec(href)?.[1] ?? "core"

const files = new Map([...served.values()].map(({ file }) => [ownerOf(file), readExamples(file)]))

const recorded = [...files.values()].flatMap(entriesOf).flatMap(([operation, parts]) =>
  entriesOf(parts).map(([part, body]) => ({ operation, part, body }))
)

const recordedOf = (operation: string, part: string): Json | undefined => {
  const file = served.get(operation)?.file
  const parts = file && files.get(ownerOf(file))?.[operation]
  return isObject(parts) ? parts[part] : undefined
}

/** Operations without a recorded answer: none of the core. Send such a request in a test, record it and lower the number. */
const limits: Readonly<Record<string, number>> = {
  appointments: 3,
  "channel-connector": 3,
  marketplace: 2,
  notifications: 3,
  pos: 8,
  "pos-restaurant": 16,
  procurement: 4,
  reviews: 1,
  "scheduled-orders": 2,
  uom: 1,
  warehouse: 3
}

describe("the recorded examples", () => {
  it("fit the operations of the document", async () => {
    const known = new Set(bodies.map(({ operation, part }) => `${operation} ${part}`))
    assert.deepStrictEqual(
      recorded.filter(({ operation, part }) => !known.has(`${operation} ${part}`)).map(({ operation }) => operation),
      [],
      "npm run -s examples"
    )
    const refused: Array<string> = []
    for (const { body, operation, part } of recorded) {
      const refusal = await refusalOf(operation, part, body)
      if (refusal !== undefined) refused.push(`${operation} ${part}: ${refusal}`)
    }
    assert.deepStrictEqual(refused, [], "npm run -s examples")
  })

  it("are those of the document", () => {
    const others = bodies.filter((body) => {
      const own = recordedOf(body.operation, body.part)
      return own !== undefined && JSON.stringify(exampleOf(body)) !== JSON.stringify(own)
    })
    assert.deepStrictEqual(others.map(({ operation }) => operation), [])
  })

  it("show nearly every operation", () => {
    const without = bodies.filter(({ operation, part }) =>
      part !== "request" && recordedOf(operation, part) === undefined && !neverSucceeding.has(operation)
    )
    const byOwner = Map.groupBy(without, ({ operation }) => {
      const file = served.get(operation)?.file
      return file === undefined ? "" : ownerOf(file)
    })
    for (const [owner, left] of byOwner) {
      const names = left.map(({ operation, part }) => `${operation} ${part}`)
      assert.isAtMost(left.length, limits[owner] ?? 0, `npm run -s examples; without one: ${names.join(", ")}`)
    }
  })

  it("are short", () => {
    const core = files.get("core") ?? {}
    assert.isBelow(JSON.stringify(core).length, 400_000)
    const long = [...files.values()].flatMap(entriesOf).filter(([, parts]) => JSON.stringify(parts).length > 15_000)
    assert.deepStrictEqual(long.map(([operation]) => operation), [])
  })

  it("have no secrets and nothing of the machine that recorded them", () => {
    assert.deepStrictEqual(recorded.flatMap(({ body }) => secretsIn(body)), [])
    const text = JSON.stringify(recorded)
    for (
      const pattern of [
        /Bearer /,
        /eyJ[\w-]{10}/,
        /-----BEGIN/,
        /\b127\.0\.0\.1:\d/,
        /localhost/,
        /"\/(home|root|tmp|work)\//
      ]
    ) {
      assert.notMatch(text, pattern)
    }
    const passwords = text.match(/"\w*[pP]assword":"[^"]*"/g) ?? []
    assert.isAbove(passwords.length, 2)
    assert.deepStrictEqual(passwords.filter((one) => !one.endsWith(`:"correct horse battery"`)), [])
  })
})
