import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { decoding } from "../../domain/platform/records/Rows.ts"
import { StoreSettings } from "../../domain/platform/settings/StoreSettings.ts"
import { AppConfig } from "../config/AppConfig.ts"
import { InvalidSetting } from "../config/Settings.ts"

const Unknown = Schema.Struct({ organization: Schema.String, shippingClass: Schema.String, slugs: Schema.String })

/**
 * Refuses a class of shipping that its organization does not have. An organization without classes passes: its first
 * ones are made through the API of a started service.
 */
export const checkShippingClasses = Effect.gen(function*() {
  const { deployment: { tax }, taxes } = yield* AppConfig
  const organizations = [(yield* StoreSettings).defaultOrganizationId, ...Object.keys(tax.organizations)]
  const wanted = organizations.flatMap((organization) => {
    const shippingClass = taxes.shippingClass(organization)
    return shippingClass === undefined ? [] : [{ organization, shippingClass }]
  })
  if (wanted.length === 0) return
  const [flaw] = yield* decoding(yield* SqlClient.SqlClient, Unknown)`
    select w.organization, w."shippingClass", string_agg(c.slug, ', ' order by c.slug) as slugs
    from jsonb_to_recordset(${JSON.stringify(wanted)}::jsonb) as w(organization text, "shippingClass" text)
      join tax_classes_read c on c.organization_id = w.organization
    group by 1, 2 having not bool_or(lower(w."shippingClass") in (c.slug, c.id::text)) order by 1`
  if (flaw === undefined) return
  const { organization, shippingClass, slugs } = flaw
  const setting = tax.organizations[organization]?.shippingClassId === undefined
    ? "tax.shippingClassId"
    : `tax.organizations.${organization}.shippingClassId`
  return yield* new InvalidSetting({
    message: `${setting} is "${shippingClass}", which is no tax class of organization "${organization}". ` +
      `Set the slug or id of one of its classes (${slugs}), or remove the setting.`
  })
})
