import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { randomUUID } from "node:crypto"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]

describe("calendars", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon()
  })
  afterAll(() => salon.close())

  const follow = (path: string) => salon.app.request("GET", path)

  it("show a provider and a customer what is to come, by links that no one guesses", async () => {
    const service = await salon.service({ name: "Cut, wash; dry" })
    const providerId = await salon.provider(service, { name: "Grace" })
    const notes = `First line\nsecond, ${"ä".repeat(80)}`
    const id = await salon.book(ann, service, salon.at(2, "09:00"), { providerId, notes })
    await salon.done("POST", `/bookings/${id}/confirm`, {})
    await salon.book(bob, service, salon.at(2, "10:00"), { providerId, customerName: "Bob" })
    const gone = await salon.book(ann, service, salon.at(2, "11:00"), { providerId })
    await salon.done("POST", `/bookings/${gone}/cancel`, {}, ann)

    const link = async (path: string, as?: typeof ann) => (await salon.done("POST", path, {}, as)).text("data.path")
    const [hers, annas] = [await link(`/providers/${providerId}/calendar`), await link("/my-calendar", ann)]
    const { body, headers, status } = await follow(hers)
    assert.deepStrictEqual([status, headers.get("content-type")], [200, "text/calendar; charset=utf-8"])
    const text = String(body)
    assert.isTrue(text.split("\r\n").every((line) => new TextEncoder().encode(line).length <= 75), text)
    const lines = text.replaceAll("\r\n ", "").split("\r\n")
    const begins = `DTSTART:${salon.at(2, "09:00").replaceAll(/[-:]|\.000/g, "")}`
    assert.includeMembers(lines, [
      "BEGIN:VCALENDAR",
      `UID:${id}@stoa`,
      begins,
      "SUMMARY:Cut\\, wash\\; dry: Ann",
      "SUMMARY:Cut\\, wash\\; dry: Bob",
      `DESCRIPTION:First line\\nsecond\\, ${"ä".repeat(80)}`,
      "STATUS:CONFIRMED",
      "STATUS:TENTATIVE"
    ])
    assert.lengthOf(lines.filter((line) => line === "BEGIN:VEVENT"), 2)
    const own = String((await follow(annas)).body)
    assert.deepStrictEqual([own.includes(id), own.includes("Grace"), own.includes("Bob")], [true, true, false])

    const [path = "", key = ""] = hers.split("?key=")
    const other = annas.split("?key=")[1]
    const wrong = [
      path,
      `${path}?key=`,
      `${path}?key=${other}`,
      `${path}?key=${key.slice(1)}`,
      hers.replace(/[0-9a-f-]{36}/, randomUUID())
    ]
    for (const one of wrong) assert.strictEqual((await follow(one)).status, 404, one)
    assert.notStrictEqual(await link(`/providers/${providerId}/calendar`), hers)
    assert.strictEqual((await follow(hers)).status, 404)
    assert.strictEqual((await follow(annas)).status, 200)
    await salon.refused("404 NOT_FOUND", "POST", `/providers/${randomUUID()}/calendar`, {})
    await salon.refused("403 FORBIDDEN", "POST", `/providers/${providerId}/calendar`, {}, ann)
  })
})
