import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { cashier, outsider, picked } from "../../pos/test/TillShop.ts"
import { openRestaurant, type RestaurantShop } from "./RestaurantShop.ts"

/** contract-plugins §3, contract-tills-channels B (36). The schedule does not run: each test looks when it wants to. */
describe("alerts of a restaurant", () => {
  let shop: RestaurantShop
  let till: Awaited<ReturnType<RestaurantShop["till"]>>
  beforeAll(async () => {
    shop = await openRestaurant({}, { jobs: { autorun: { enabled: false } } })
    till = await shop.till()
  })
  afterAll(() => shop.close())

  const detect = async () => (await shop.done("POST", "/alerts/detect")).at("data")
  const none = { delayed: 0, notStarted: 0, occupancy: 0, unclosedBills: 0, cancellations: 0, modifications: 0 }
  const configure = (alertType: string, thresholdMinutes: number, body: object = {}) =>
    shop.done("POST", "/alerts/config", { alertType, thresholdMinutes, ...body })
  const open = (query = "") => shop.done("GET", `/alerts?unresolvedOnly=true${query}`, undefined, cashier)
  const events = (id: string) =>
    shop.query(
      `select payload->>'severity' as severity, payload->'notifyRoles' as roles from outbox_events
        where type = 'pos-restaurant.alert' and entity_id = $1 order by id`,
      [id]
    )

  it("have settings of all six types", async () => {
    const before = await shop.done("GET", "/alerts/config")
    assert.deepStrictEqual(before.at("data.3"), {
      alertType: "prolonged_occupancy",
      thresholdMinutes: 120,
      isEnabled: true,
      notifyRoles: []
    })
    assert.lengthOf(before.list("data"), 6)
    await configure("unclosed_bill", 30, { notifyRoles: ["owner"] })
    const changed = await configure("unclosed_bill", 20)
    assert.deepStrictEqual(picked(changed, "thresholdMinutes", "notifyRoles.0"), [20, "owner"])
    assert.deepInclude((await shop.done("GET", "/alerts/config")).list("data"), changed.at("data"))
    assert.deepInclude(
      (await shop.done("GET", "/alerts/config", undefined, outsider)).list("data"),
      before.at("data.2")
    )
    await shop.refused("422 VALIDATION_FAILED", "POST", "/alerts/config", {
      alertType: "unclosed_bill",
      thresholdMinutes: 0
    })
    await shop.refused("403 FORBIDDEN", "POST", "/alerts/detect", undefined, cashier)
  })

  it("are raised once about guests who sit long, once more when critical, and resolved", async () => {
    await configure("prolonged_occupancy", 60, { notifyRoles: ["manager"] })
    const { table } = await shop.seated(till)
    shop.app.clock.advance("59 minutes")
    // A change of the layout is no new beginning.
    await shop.done("PATCH", `${table.path}/layout`, { layoutX: 7 })
    assert.deepStrictEqual(await detect(), none)
    shop.app.clock.advance("2 minutes")
    assert.deepStrictEqual(await detect(), { ...none, occupancy: 1 })
    assert.deepStrictEqual(await detect(), none)
    const warning = await open("&type=prolonged_occupancy")
    const [id, ...about] = picked(warning, "0.id", "0.severity", "0.metadata.tableNumber", "0.message")
    assert.deepStrictEqual(about, ["warning", table.number, `Table ${table.number} is occupied for 61 minutes.`])
    shop.app.clock.advance("1 hour")
    assert.deepStrictEqual(await detect(), none)
    assert.deepStrictEqual(await detect(), none)
    const critical = await open("&severity=critical")
    assert.deepStrictEqual(picked(critical, "0.id", "0.message"), [
      id,
      `Table ${table.number} is occupied for 121 minutes.`
    ])
    assert.deepStrictEqual(await events(String(id)), [
      { severity: "warning", roles: ["manager"] },
      { severity: "critical", roles: ["manager"] }
    ])
    await shop.refused("404 NOT_FOUND", "POST", `/alerts/${id}/resolve`, undefined, outsider)
    await shop.done("POST", `/alerts/${id}/resolve`, undefined, cashier)
    await shop.refused("422 INVALID_TRANSITION", "POST", `/alerts/${id}/resolve`)
    assert.strictEqual((await shop.done("GET", "/alerts?isResolved=true")).at("data.0.resolvedBy"), "cashier")
    shop.app.clock.advance("1 hour")
    assert.deepStrictEqual(await detect(), none)
    assert.deepStrictEqual((await open()).list("data"), [])
    await shop.done("POST", `${table.path}/clear`)
  })

  it("come back as critical after they were resolved as a warning", async () => {
    const { table } = await shop.seated(till)
    shop.app.clock.advance("61 minutes")
    await detect()
    await shop.done("POST", `/alerts/${(await open()).text("data.0.id")}/resolve`)
    shop.app.clock.advance("61 minutes")
    assert.deepStrictEqual(await detect(), { ...none, occupancy: 1 })
    assert.strictEqual((await open()).at("data.0.severity"), "critical")
    await shop.done("POST", `/alerts/${(await open()).text("data.0.id")}/resolve`)
    await shop.done("POST", `${table.path}/clear`)
  })

  it("are raised once about a bill that waits, by several detections and the job at once", async () => {
    const { table } = await shop.seated(till)
    shop.app.clock.advance("15 minutes")
    await shop.done("POST", `${table.path}/bill`)
    shop.app.clock.advance("19 minutes")
    assert.deepStrictEqual(await detect(), none)
    shop.app.clock.advance("2 minutes")
    await shop.app.serviceRegistry.enqueue("pos-restaurant/detect", {})
    const run = shop.core("POST", "/jobs/run?limit=100")
    const counts = await Promise.all(Array.from({ length: 4 }, detect))
    await run
    const found = await open("&type=unclosed_bill")
    assert.strictEqual(found.at("meta.pagination.total"), 1)
    assert.isAtMost(counts.filter((one) => JSON.stringify(one) !== JSON.stringify(none)).length, 1)
    await shop.done("POST", `${table.path}/clear`)
  })

  it("are raised by the job, and not where they are switched off", async () => {
    await configure("prolonged_occupancy", 60, { isEnabled: false })
    const { id } = await shop.seated(till)
    shop.app.clock.advance("61 minutes")
    const raised = async () => {
      await shop.app.serviceRegistry.enqueue("pos-restaurant/detect", {})
      await shop.core("POST", "/jobs/run?limit=100")
      return shop.query("select severity from pos_restaurant_alerts where metadata->>'transactionId' = $1", [id])
    }
    assert.deepStrictEqual(await raised(), [])
    await configure("prolonged_occupancy", 60, { isEnabled: true })
    assert.deepStrictEqual(await raised(), [{ severity: "warning" }])
  })

  it("are mailed to the members with the roles of their setting, once for each severity", async () => {
    // Mia has not verified her address, and Eve manages another store.
    const roles = { mona: "manager", mia: "manager", otto: "owner", carl: "cashier", eve: "manager" }
    for (const [name, role] of Object.entries(roles)) {
      await shop.query(
        `with person as (insert into users (name, email, email_verified) values ($1, $2, $3) returning id)
          insert into members (organization_id, user_id, role) select $5, id, $4 from person`,
        [name, `${name}@example.com`, name !== "mia", role, name === "eve" ? outsider.organizationId : "org_default"]
      )
    }
    await configure("prolonged_occupancy", 60, { notifyRoles: ["manager", "owner"] })
    const { table } = await shop.seated(till)
    const mailed = async (minutes: number) => {
      shop.mails.length = 0
      shop.app.clock.advance(`${minutes} minutes`)
      await detect()
      await detect()
      await shop.core("POST", "/jobs/run?limit=100&queue=mail")
      return shop.mails.filter(({ data }) => String(data["message"]).includes(table.number))
        .map(({ data, to }) => `${to} ${data["severity"]}`).sort()
    }
    assert.deepStrictEqual(await mailed(61), ["mona@example.com warning", "otto@example.com warning"])
    assert.deepStrictEqual(await mailed(1), [])
    assert.deepStrictEqual(await mailed(60), ["mona@example.com critical", "otto@example.com critical"])
  })
})
