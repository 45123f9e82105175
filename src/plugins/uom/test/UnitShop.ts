import { assert, inject } from "@effect/vitest"
import type { Plugin } from "stoa/plugin"
import { createPluginTestApp, type PluginTestOptions, testAdminActor } from "stoa/plugin/testing"

/** What came back, whose values are read by their paths. */
export interface Read {
  readonly status: number
  readonly body: unknown
  readonly at: (path: string) => unknown
  readonly text: (path: string) => string
}

export const valueAt = (body: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, name) => Reflect.get(Object(value), name), body)

let codes = 0

/** A store with these plugins, of which the first one is `uom`. */
export const openUnitShop = async (plugins: ReadonlyArray<Plugin>, options: PluginTestOptions = {}) => {
  const app = await createPluginTestApp(plugins, {
    postgres: inject("postgres").url,
    rateLimits: { api: 1_000_000 },
    ...options
  })
  const ask = async (method: string, path: string, body?: unknown, as = testAdminActor): Promise<Read> => {
    const sent = { as, ...(body === undefined ? {} : { body }) }
    const { body: received, status } = await app.app.request(method, `/api${path}`, sent)
    return {
      status,
      body: received,
      at: (at) => valueAt(received, at),
      text: (at) => String(valueAt(received, at))
    }
  }
  /** The same for what a test takes for granted; its data's id. */
  const made = async (path: string, body: unknown): Promise<string> => {
    const answer = await ask("POST", path, body)
    assert.strictEqual(answer.status, 201, JSON.stringify(answer.body))
    return answer.text("data.id")
  }
  /** An entity of the catalog; its id. */
  const entity = async (): Promise<string> => {
    const [row] = await app.db.query(`insert into catalog_entities (id, organization_id, type, slug, status, is_visible)
      select id, 'org_default', 'product', id::text, 'active', true from gen_random_uuid() id returning id`)
    return String(row?.["id"])
  }
  /** Sample rows of `uom` in an organization, for the checks of the kit: a conversion has two units. */
  const samplesIn = async (organization: string) => {
    await app.db.query("insert into organizations (id, slug, name) values ($1, $1, $1) on conflict do nothing", [
      organization
    ])
    const [unit] = await app.db.query(
      `insert into units_of_measure (organization_id, code, name, category) values ($1, 'other', 'Other', 'time')
        returning id`,
      [organization]
    )
    return {
      units_of_measure: { code: "sample" },
      uom_conversions: { toUnitId: unit?.["id"], factorDecimal: "1", factor: "10000" }
    }
  }
  return {
    app,
    samplesIn,
    entity,
    ask,
    made,
    unit: (category = "weight", body: object = {}) =>
      made("/uom/units", { code: `u${++codes}`, name: `Unit ${codes}`, category, ...body }),
    conversion: (fromUnitId: string, toUnitId: string, factorDecimal: string, entityId?: string) =>
      made("/uom/conversions", { fromUnitId, toUnitId, factorDecimal, ...(entityId && { entityId }) }),
    unitsOf: (entityId: string, purchaseUomId: string, stockUomId: string, saleUomId = stockUomId) =>
      made(`/uom/entities/${entityId}/uom`, { purchaseUomId, stockUomId, saleUomId })
  }
}

export type UnitShop = Awaited<ReturnType<typeof openUnitShop>>
