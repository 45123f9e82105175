import { assert, describe, expect, it } from "vitest"
import { hintKey } from "../../src/domain/platform/hints/Hints.ts"
import { operationNames } from "../../src/http/docs/OperationNames.ts"
import { isObject, list } from "../../src/http/openapi/Json.ts"
import { complaints, objectsOf } from "./Validators.ts"
import { operationsIn, whole30, whole31 } from "./WholeDocument.ts"

const operations = operationsIn(whole30)

describe("the operations of the document", () => {
  it("have names, each once, that do not change unnoticed", async () => {
    const names = operations.map(({ operation }) => String(operation["operationId"]))
    assert.deepStrictEqual(names.filter((name) => !/^[a-z]\w*(\.[a-z]\w*)+$|^openapi$/i.test(name)), [])
    assert.strictEqual(new Set(names).size, names.length)
    const lines = operations.map(({ name, operation }) => `${operation["operationId"]}  ${name}`)
    // `npx vitest run test/openapi/Operations.test.ts -u` writes it again: a client's calls are named by it.
    await expect(`${lines.toSorted().join("\n")}\n`).toMatchFileSnapshot("operations.txt")
  })

  it("say who may call them", () => {
    const said = new Map(operations.map(({ name, operation }) => [name, operation["x-permission"]]))
    assert.deepStrictEqual([...said].filter(([, permission]) => typeof permission !== "string"), [])
    assert.strictEqual(said.get("GET /api/health"), "public")
    assert.strictEqual(said.get("GET /api/me/profile"), "signed-in")
    assert.strictEqual(said.get("POST /api/catalog/entities"), "catalog:create")
    assert.strictEqual(said.get("POST /api/customers"), "customers:read & customers:create")
    assert.strictEqual(said.get("POST /api/procurement/suppliers"), "procurement:admin")
  })

  it("have tags, each in one group", () => {
    const grouped = list(whole30["x-tagGroups"]).flatMap((group) => isObject(group) ? list(group["tags"]) : [])
    const used = new Set(operations.flatMap(({ operation }) => list(operation["tags"])))
    assert.sameMembers([...grouped], [...used])
  })

  it("list the records that ids refer to", () => {
    const hintsOf = objectsOf(whole30).flatMap(([, object]) => {
      const hint = object[hintKey]
      return isObject(hint) ? [hint] : []
    })
    const listed = new Set(hintsOf.flatMap(({ list: kind }) => typeof kind === "string" ? [kind] : []))
    const meant = new Set(hintsOf.flatMap(({ ref }) => typeof ref === "string" ? [ref] : []))
    for (const kind of ["customers", "orders", "entities", "warehouses", "suppliers", "gift_cards"]) {
      assert.isTrue(listed.has(kind) && meant.has(kind), kind)
    }
  })

  it("are valid OpenAPI 3.0 and 3.1 with all plugins", async () => {
    assert.deepStrictEqual(await complaints(whole30), [])
    assert.deepStrictEqual(await complaints(whole31), [])
  })
})

describe("the name of an operation of a plugin", () => {
  const routes = [
    ["GET", "/api/gift-cards", true],
    ["POST", "/api/gift-cards", false],
    ["GET", "/api/gift-cards/:id", false],
    ["POST", "/api/gift-cards/:id/top-up", false],
    ["POST", "/api/gift-cards/:id/notes", false],
    ["GET", "/api/gift-cards/:id/slots", false],
    ["GET", "/api/gift-cards/slots", false],
    ["DELETE", "/api/gift-cards/:id", false]
  ] as const

  it("is made of its address", () => {
    const names = operationNames(routes.map(([method, path, isList]) => ({ method, path, isList })))
    assert.deepStrictEqual([...names.values()], [
      "giftCards.list",
      "giftCards.create",
      "giftCards.read",
      "giftCards.topUp",
      "giftCards.notes.create",
      "giftCards.slotsById",
      "giftCards.slots",
      "giftCards.remove"
    ])
  })
})
