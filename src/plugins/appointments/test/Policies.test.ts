import { afterAll, assert, beforeAll, describe, expect, it } from "@effect/vitest"
import { customer, openSalon, type Salon } from "./Salon.ts"

const [ann, bob] = [customer("ann"), customer("bob")]

describe("a salon that confirms by itself and lets customers cancel until two days before", () => {
  let salon: Salon
  beforeAll(async () => {
    salon = await openSalon({ autoConfirm: true, cancelHours: 48 })
  })
  afterAll(() => salon.close())

  const booked = async (days: number, body: object = {}) => {
    const service = await salon.service()
    const provider = await salon.provider(service, { email: "grace@example.com", ...body })
    return { id: await salon.book(ann, service, salon.at(days, "10:00"), { providerId: provider }), provider, service }
  }
  const sent = (template: string, to: string) =>
    salon.mails.filter((mail) => mail.template === `appointments/${template}` && mail.to === to).length
  const status = async (id: string) => (await salon.done("GET", `/bookings/${id}`)).at("data.status")

  it("confirms an appointment when it is booked, and tells customer and provider", async () => {
    const { id } = await booked(3)
    assert.strictEqual(await status(id), "confirmed")
    await expect.poll(() => [sent("confirmation", "ann@example.com"), sent("booked", "grace@example.com")], {
      timeout: 60_000
    }).toEqual([1, 1])
    const mail = salon.mails.find(({ template }) => template === "appointments/booked")
    assert.deepInclude(mail?.data, { customerName: "Grace", customer: "Ann" })
  })

  it("lets customers cancel and move until two days before, and staff always; the provider learns of it", async () => {
    const [early, late] = [await booked(3, { email: "early@example.com" }), await booked(1, { email: null })]
    const wish = { newStartTime: salon.at(4, "10:00") }
    for (const path of ["cancel", "reschedule"]) {
      const refused = await salon.refused("422 VALIDATION_FAILED", "POST", `/bookings/${late.id}/${path}`, wish, ann)
      assert.include(
        refused.text("error.message"),
        "Less than 48 hours are left until the appointment: only staff can change it."
      )
    }
    assert.strictEqual(await status(late.id), "confirmed")
    await salon.refused("404 NOT_FOUND", "POST", `/bookings/${early.id}/cancel`, {}, bob)
    await salon.done("POST", `/bookings/${early.id}/reschedule`, wish, ann)
    await salon.done("POST", `/bookings/${late.id}/cancel`, {})
    await expect.poll(() => [sent("withdrawn", "early@example.com"), sent("booked", "early@example.com")], {
      timeout: 60_000
    }).toEqual([1, 2])
  })
})
