import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]

describe("a service that begins every so many minutes", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())

  const offered = async (startStepMinutes: number, timezone = "UTC") => {
    const service = await salon.service({ startStepMinutes, durationMinutes: 50 })
    return { service, provider: await salon.provider(service, { timezone }) }
  }

  it("shows and takes times at its steps alone, also of a move, which a refusal leaves as it was", async () => {
    const { provider, service } = await offered(30)
    const at = (time: string) => salon.at(3, time)
    const free = async () => (await salon.slots(provider, service, salon.day(3))).slice(0, 4)
    assert.deepStrictEqual(await free(), ["09:00", "09:30", "10:00", "10:30"])
    const path = `/availability/slots?from=${salon.day(3)}&to=${salon.day(3)}&serviceTypeId=${service}`
    assert.deepInclude((await salon.done("GET", path)).at("data.1"), { start: at("09:30"), end: at("10:20") })
    const message = "startTime must be at a full hour of the provider, or a multiple of 30 minutes after one."
    for (const more of [{}, { providerId: provider }]) {
      const wish = salon.wish(service, at("09:50"), more)
      const refused = await salon.refused("422 VALIDATION_FAILED", "POST", "/bookings", wish, ann)
      assert.strictEqual(refused.at("error.details.issues.0.message"), message)
    }
    const id = await salon.book(ann, service, at("10:00"), { providerId: provider })
    assert.deepStrictEqual(await free(), ["09:00", "11:00", "11:30", "12:00"])
    await salon.refused("409 CONFLICT", "POST", "/bookings", salon.wish(service, at("10:30")), bob)
    const move = (newStartTime: string) => ["POST", `/bookings/${id}/reschedule`, { newStartTime }, ann] as const
    await salon.refused("422 VALIDATION_FAILED", ...move(at("11:50")))
    assert.strictEqual(await salon.status(id), "provisional")
    await salon.done(...move(at("11:30")))
    assert.deepStrictEqual(await free(), ["09:00", "09:30", "10:00", "10:30"])
  })

  it("counts its steps by the clock of the provider", async () => {
    const { provider, service } = await offered(60, "Asia/Kathmandu")
    assert.deepStrictEqual((await salon.slots(provider, service, salon.day(3))).slice(0, 2), ["03:15", "04:15"])
    await salon.refused("422 VALIDATION_FAILED", "POST", "/bookings", salon.wish(service, salon.at(3, "04:00")), ann)
    await salon.book(ann, service, salon.at(3, "04:15"))
  })

  it("offers no time to who waits that is no step any more", async () => {
    const { provider, service } = await offered(30)
    const [half, full] = [
      await salon.book(ann, service, salon.at(3, "11:30"), { providerId: provider }),
      await salon.book(ann, service, salon.at(3, "14:00"), { providerId: provider })
    ]
    await salon.done("PATCH", `/services/${service}`, { startStepMinutes: 60 })
    const window = { serviceTypeId: service, earliest: salon.at(3, "09:00"), latest: salon.at(3, "16:00") }
    const contact = { customerName: "Bob", customerEmail: bob.email }
    const id = (await salon.done("POST", "/waiting-list", { ...window, ...contact }, bob)).text("data.id")
    const place = async () => (await salon.done("GET", `/waiting-list/${id}`)).at("data.status")
    await salon.done("POST", `/bookings/${half}/cancel`, {}, ann)
    assert.strictEqual(await place(), "waiting")
    await salon.done("POST", `/bookings/${full}/cancel`, {}, ann)
    assert.strictEqual(await place(), "offered")
    await salon.book(bob, service, salon.at(3, "14:00"), { providerId: provider })
  })

  it("has steps that divide an hour, and none again", async () => {
    const { provider, service } = await offered(20)
    const refuse = async (method: string, path: string, body: object) => {
      const refused = await salon.refused("422 VALIDATION_FAILED", method, path, body)
      assert.strictEqual(refused.at("error.details.issues.0.path"), "startStepMinutes")
    }
    for (const startStepMinutes of [0, 7, 45, 120]) {
      await refuse("POST", "/services", { name: "Cut", slug: `cut-every-${startStepMinutes}`, startStepMinutes })
      await refuse("PATCH", `/services/${service}`, { startStepMinutes })
    }
    const set = "update appointment_service_types set start_step_minutes = 45 where id = $1"
    assert.strictEqual(await salon.db.query(set, [service]).then(() => "done", () => "refused"), "refused")
    await salon.done("PATCH", `/services/${service}`, { startStepMinutes: null, durationMinutes: 60 })
    assert.deepStrictEqual((await salon.slots(provider, service, salon.day(3))).slice(0, 2), ["09:00", "10:00"])
  })
})
