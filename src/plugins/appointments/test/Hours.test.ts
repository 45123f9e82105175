import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { customer, openSalon, type Salon } from "./Salon.ts"

const ann = customer("ann")

describe("hours", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())

  it("are those of the week, of several windows a day, until midnight, without breaks and with days of their own", async () => {
    const service = await salon.service()
    const date = salon.day(3)
    const weekday = new Date(`${date}T00:00:00Z`).getUTCDay()
    const on = (startTime: string, endTime: string, dayOfWeek = weekday) => ({ dayOfWeek, startTime, endTime })
    const id = await salon.provider(service, { week: [on("20:00", "00:00"), on("09:00", "11:00")] })
    const hours = `/availability/${id}`
    const free = () => salon.slots(id, service, date, null)
    assert.deepStrictEqual(await free(), ["09:00", "10:00", "20:00", "21:00", "22:00", "23:00"])
    const add = async (what: string, body: object) =>
      (await salon.done("POST", `${hours}/${what}`, body)).text("data.id")
    const pause = await add("breaks", { startTime: "10:30", endTime: "21:00", label: "Nap" })
    const late = await add("breaks", on("22:30", "00:00"))
    assert.deepStrictEqual(await free(), ["09:00", "21:00"])
    await salon.done("DELETE", `${hours}/breaks/${late}`)
    await salon.done("DELETE", `${hours}/breaks/${pause}`)
    const special = { date, isAvailable: true, startTime: "06:00", endTime: "08:00" }
    const other = await add("overrides", special)
    assert.deepStrictEqual(await free(), ["06:00", "07:00"])
    await salon.refused("409 CONFLICT", "POST", `${hours}/overrides`, { date })
    const listed = await salon.done("GET", `${hours}/overrides?from=${date}&to=${date}`, undefined, null)
    assert.deepStrictEqual([listed.at("data.length"), listed.at("data.0.id")], [1, other])
    await salon.done("DELETE", `${hours}/overrides/${other}`)
    await add("overrides", { date, isAvailable: false, reason: "Ill" })
    assert.deepStrictEqual(await free(), [])
    assert.strictEqual((await salon.done("GET", `${hours}/weekly`, undefined, null)).at("data.length"), 2)
    assert.strictEqual((await salon.done("GET", `${hours}/breaks`, undefined, null)).at("data.length"), 0)
    assert.deepStrictEqual((await salon.done("PUT", `${hours}/weekly`, { schedules: [] })).at("data"), [])
  })

  it("are refused that cannot be, and of no provider", async () => {
    const service = await salon.service()
    const id = await salon.provider(service)
    const [known, unknown] = [`/availability/${id}`, `/availability/${randomUUID()}`]
    const monday = (startTime: string, endTime: string) => ({ dayOfWeek: 1, startTime, endTime })
    const week = (...schedules: ReadonlyArray<object>) => ({ schedules })
    const slots = (from: string, to: string, of = service) =>
      `/availability/slots?from=${from}&to=${to}&serviceTypeId=${of}`
    const short = await salon.service({ durationMinutes: 5, maxAdvanceDays: 365 })
    await salon.provider(short)
    const cases: ReadonlyArray<readonly [string, string, string, object?]> = [
      ["404 NOT_FOUND", "PUT", `${unknown}/weekly`, week()],
      ["404 NOT_FOUND", "POST", `${unknown}/breaks`, monday("09:00", "10:00")],
      ["404 NOT_FOUND", "POST", `${unknown}/overrides`, { date: "2027-01-01" }],
      ["404 NOT_FOUND", "DELETE", `${known}/breaks/${randomUUID()}`],
      ["404 NOT_FOUND", "DELETE", `${known}/overrides/${randomUUID()}`],
      ["404 NOT_FOUND", "GET", `${unknown}/slots?date=2027-01-01&serviceTypeId=${service}`],
      ["404 NOT_FOUND", "GET", `${known}/slots?date=2027-01-01&serviceTypeId=${randomUUID()}`],
      ["404 NOT_FOUND", "GET", slots("2027-01-01", "2027-01-02", randomUUID())],
      ["422 VALIDATION_FAILED", "GET", slots("2027-01-02", "2027-01-01")],
      ["422 VALIDATION_FAILED", "GET", slots("2027-01-01", "2028-02-01")],
      ["422 VALIDATION_FAILED", "GET", slots("2027-02-30", "2027-03-01")],
      ["422 VALIDATION_FAILED", "GET", slots(salon.day(1), salon.day(360), short)],
      ["422 VALIDATION_FAILED", "PUT", `${known}/weekly`, week(monday("09:00", "09:00"))],
      ["422 VALIDATION_FAILED", "PUT", `${known}/weekly`, week(monday("9:00", "10:00"))],
      ["422 VALIDATION_FAILED", "PUT", `${known}/weekly`, week(monday("10:00", "12:00"), monday("09:00", "10:01"))],
      ["422 VALIDATION_FAILED", "PUT", `${known}/weekly`, week(monday("10:00", "00:00"), monday("20:00", "21:00"))],
      ["422 VALIDATION_FAILED", "POST", `${known}/breaks`, monday("10:00", "09:00")],
      ["422 VALIDATION_FAILED", "POST", `${known}/overrides`, { date: "2027-01-01", startTime: "09:00" }]
    ]
    for (const [expected, method, path, body] of cases) await salon.refused(expected, method, path, body)
    assert.strictEqual((await salon.done("GET", `${known}/weekly`)).at("data.length"), 7)
    await salon.refused("403 FORBIDDEN", "PUT", `${known}/weekly`, week(), ann)
  })

  it("are one whole week of several that are written at once", async () => {
    const id = await salon.provider(await salon.service())
    await Promise.all(Array.from({ length: 8 }, (_, n) => {
      const schedules = [1, 2, 3].map((dayOfWeek) => ({ dayOfWeek, startTime: `0${n + 1}:00`, endTime: "12:00" }))
      return salon.done("PUT", `/availability/${id}/weekly`, { schedules })
    }))
    const rows = (await salon.done("GET", `/availability/${id}/weekly`)).list("data")
    assert.deepStrictEqual([rows.length, new Set(rows.map((row) => Object(row).startTime)).size], [3, 1])
  })

  it("of all providers are merged, with how many are free", async () => {
    const service = await salon.service()
    const one = await salon.provider(service)
    await salon.provider(service, { link: { customDurationMinutes: 120 } })
    await salon.provider(service)
    await salon.book(ann, service, salon.at(2, "09:00"), { providerId: one })
    const path = `/availability/slots?from=${salon.day(2)}&to=${salon.day(3)}&serviceTypeId=${service}`
    const free = (await salon.done("GET", path, undefined, null)).list("data")
    assert.deepStrictEqual(free.slice(0, 3), [
      { start: salon.at(2, "09:00"), end: salon.at(2, "10:00"), providers: 1 },
      { start: salon.at(2, "09:00"), end: salon.at(2, "11:00"), providers: 1 },
      { start: salon.at(2, "10:00"), end: salon.at(2, "11:00"), providers: 2 }
    ])
    assert.lengthOf(free, 24)
  })
})
