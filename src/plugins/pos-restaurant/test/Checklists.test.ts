import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { cashier, code, outsider } from "../../pos/test/TillShop.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-plugins §3, contract-tills-channels B (35). */
describe("checklists of a restaurant", () => {
  let shop: RestaurantShop
  beforeAll(async () => {
    shop = await openRestaurant()
  })
  afterAll(() => shop.close())

  const labels = [{ label: "Tables wiped" }, { label: "Candles", isRequired: false }]
  const checklist = async (type: string, body: object = {}) => {
    const made = await shop.done("POST", "/checklists", { name: `Before ${type}`, type, items: labels, ...body })
    return {
      path: `/checklists/${made.text("data.id")}`,
      items: [made.text("data.items.0.id"), made.text("data.items.1.id")]
    }
  }
  type Checklist = Awaited<ReturnType<typeof checklist>>
  const completed = ({ items }: Checklist, referenceType: string, referenceId: string, checked = true) => ({
    referenceType,
    referenceId,
    completedItems: [{ itemId: items[0], checked, note: "n" }]
  })
  const complete = (of: Checklist, referenceType: string, referenceId: string) =>
    shop.done("POST", `${of.path}/complete`, completed(of, referenceType, referenceId), cashier)
  const openShift = (terminalId: string, id: string) =>
    shop.ask("POST", "/pos/shifts/open", { id, terminalId, openingFloat: 0 })
  const close = (shiftId: string) => shop.ask("POST", `/pos/shifts/${shiftId}/close`, { closingCount: 0 })
  const retire = (...all: ReadonlyArray<Checklist>) => Promise.all(all.map(({ path }) => shop.done("DELETE", path)))

  it("are made with items, listed, changed and deactivated", async () => {
    const [later, first] = [await checklist("shift_open", { sortOrder: 2 }), await checklist("shift_open")]
    const listed = await shop.done("GET", "/checklists?type=shift_open", undefined, cashier)
    assert.deepStrictEqual(
      [listed.at("data.0.id"), listed.at("data.1.items.1.label"), listed.at("data.1.items.1.isRequired")],
      [first.path.slice(12), "Candles", false]
    )
    const changed = await shop.done("PATCH", later.path, { name: "Doors", items: [{ label: "Doors open" }] })
    assert.deepStrictEqual([changed.at("data.name"), changed.list("data.items").length], ["Doors", 1])
    assert.strictEqual((await shop.done("GET", later.path)).at("data.items.0.label"), "Doors open")
    await shop.refused("422 VALIDATION_FAILED", "POST", "/checklists", { name: "x", type: "shift_open", items: [] })
    await shop.refused("403 FORBIDDEN", "DELETE", first.path, undefined, cashier)
    await shop.refused("404 NOT_FOUND", "GET", first.path, undefined, outsider)
    await retire(later, first)
    assert.strictEqual((await shop.done("GET", first.path)).at("data.isActive"), false)
  })

  it("hold the bill of a table up until they are complete for its sale", async () => {
    const till = await shop.till()
    const [one, other, idle] = [await shop.seated(till), await shop.seated(till), await checklist("pre_billing")]
    await retire(idle)
    const asked = await checklist("pre_billing", { name: "Ask for dessert" })
    const bill = (path: string) => shop.ask("POST", `/pos/restaurant${path}/bill`)
    const refused = await bill(one.table.path)
    assert.strictEqual(code(refused), "409 CONFLICT")
    assert.include(refused.text("error.message"), "Ask for dessert")
    assert.strictEqual(await shop.stateOf(one.table.path), "occupied")
    await complete(asked, "transaction", one.id)
    assert.strictEqual((await bill(one.table.path)).status, 201)
    assert.strictEqual(code(await bill(other.table.path)), "409 CONFLICT")
    await retire(asked)
    assert.strictEqual((await bill(other.table.path)).status, 201)
  })

  it("are demanded by shifts of terminals with `checklists` alone", async () => {
    const [before, after] = [await checklist("shift_open"), await checklist("shift_close")]
    const plain = await shop.till()
    assert.strictEqual((await close(plain.shiftId)).status, 201)
    const { terminalId } = await shop.terminal({ metadata: { checklists: true } })
    const shiftId = randomUUID()
    assert.strictEqual(code(await openShift(terminalId, shiftId)), "409 CONFLICT")
    await complete(before, "shift", shiftId)
    assert.strictEqual(code(await openShift(terminalId, randomUUID())), "409 CONFLICT")
    assert.strictEqual((await openShift(terminalId, shiftId)).at("data.id"), shiftId)
    assert.strictEqual(code(await close(shiftId)), "409 CONFLICT")
    await complete(after, "shift", plain.shiftId)
    assert.strictEqual(code(await close(shiftId)), "409 CONFLICT")
    await complete(after, "shift", shiftId)
    assert.strictEqual((await close(shiftId)).at("data.status"), "closed")
    await retire(before, after)
  })

  it("let a shift close or not while theirs is completed, and count no unfinished one", async () => {
    const asked = await checklist("shift_close")
    for (let round = 0; round < 5; round++) {
      const { shiftId } = await shop.till({ metadata: { checklists: true } }, 0)
      const body = completed(asked, "shift", shiftId)
      const both = (done: object) =>
        Promise.all([shop.ask("POST", `/pos/restaurant${asked.path}/complete`, done), close(shiftId)])
      const [unfinished, early] = await both(completed(asked, "shift", shiftId, false))
      assert.deepStrictEqual([code(unfinished), code(early)], ["422 VALIDATION_FAILED", "409 CONFLICT"])
      const [done, closed] = await both(body)
      assert.strictEqual(done.status, 201)
      assert.include([201, 409], closed.status)
      if (closed.status === 409) assert.strictEqual((await close(shiftId)).status, 201)
    }
    await retire(asked)
  })

  it("are completed with their required items, for what exists", async () => {
    const till = await shop.till()
    const [asked, other] = [await checklist("pre_billing"), await checklist("shift_close")]
    const { id } = await shop.sale(till)
    const wrong = async (field: string, of: Checklist, body: object) => {
      const refused = await shop.refused("422 VALIDATION_FAILED", "POST", `${of.path}/complete`, body)
      assert.include(refused.text("error.message"), field)
    }
    const right = completed(asked, "transaction", id)
    await wrong("Tables wiped", asked, { ...right, completedItems: [] })
    await wrong("completedItems.0.itemId", asked, {
      ...right,
      completedItems: [{ itemId: other.items[0], checked: true }]
    })
    await wrong("completedItems.1.itemId", asked, {
      ...right,
      completedItems: [...right.completedItems, ...right.completedItems]
    })
    await wrong("referenceType", asked, { ...right, referenceType: "shift" })
    await wrong("referenceId", asked, { ...right, referenceId: randomUUID() })
    await wrong("referenceId", other, completed(other, "shift", randomUUID()))
    await shop.refused("404 NOT_FOUND", "POST", `/checklists/${randomUUID()}/complete`, right)
    await shop.refused("404 NOT_FOUND", "POST", `${asked.path}/complete`, right, outsider)
    assert.deepStrictEqual((await complete(asked, "transaction", id)).at("data"), { completed: true })
    await complete(asked, "transaction", id)
    const kept = await shop.query("select operator_id from pos_checklist_completions where reference_id = $1", [id])
    assert.deepStrictEqual(kept, [{ operator_id: "cashier" }])
    await retire(asked, other)
  })
})
