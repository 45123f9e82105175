import {
  createPluginTestApp,
  inOrganization,
  type TestActor,
  testAdminActor,
  testCustomerActor,
  testNoPermActor,
  testStaffActor,
  withPermissions
} from "stoa/plugin/testing"
import { expect, inject, it } from "vitest"
import { marketplace } from "../index.ts"
import { vendorRoles } from "../parties/VendorPortal.ts"

/*
 * Who may call which route, as a table to review. Every request names an unknown record and has an invalid body: 401 and 403
 * come before both. The tests of the modules cover access to single records. After a change of routes, run
 * `npx vitest run src/plugins/marketplace/test/AccessMatrix.test.ts -u` to update the table.
 */

const unknownId = "00000000-0000-4000-8000-000000000000"
const ofVendor = { ...testCustomerActor, vendorId: unknownId }

const actors: Readonly<Record<string, TestActor | undefined>> = {
  visitor: undefined,
  "no permission": testNoPermActor,
  customer: testCustomerActor,
  ...Object.fromEntries(vendorRoles.map((vendorRole) => [`vendor ${vendorRole}`, { ...ofVendor, vendorRole }])),
  // The session names no role.
  "without role": ofVendor,
  // The vendor of the session is not an id.
  "no vendor": { ...testCustomerActor, vendorId: "acme", vendorRole: "owner" },
  staff: testStaffActor,
  operator: withPermissions(["marketplace:admin"], testStaffActor),
  admin: testAdminActor,
  outsider: inOrganization("org_elsewhere", testAdminActor)
}

it(
  "every route of the marketplace responds to each actor as the reviewed table says",
  { timeout: 120_000 },
  async () => {
    const { app, close, routes } = await createPluginTestApp(marketplace(), { postgres: inject("postgres") })
    const rows: Array<string> = []
    for (const { method, path } of routes.toSorted((a, b) => (a.path < b.path ? -1 : 1))) {
      const asked = [method, path.replace(/:\w+/g, unknownId)] as const
      const body = method === "GET" ? {} : { body: [] }
      const statuses = await Promise.all(
        Object.entries(actors).map(async ([name, as]) =>
          `${name} ${(await app.request(...asked, { ...(as === undefined ? {} : { as }), ...body })).status}`
        )
      )
      rows.push(`${method} ${path}: ${statuses.join(", ")}`)
    }
    await close()
    await expect(`${rows.join("\n")}\n`).toMatchFileSnapshot("access-matrix.txt")
  }
)
