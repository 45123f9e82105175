import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Access, open, Storeless } from "../../domain/platform/access/AccessRule.ts"
import { guarded, summary } from "../endpoint/Resource.ts"
import { Data } from "../envelope/Envelope.ts"

export const AddressFormat = Schema.Struct({
  country: Schema.String,
  name: Schema.String.annotate({ description: "In English." }),
  required: Schema.Array(Schema.String).annotate({ description: "Fields that an address there needs." }),
  postalCode: Schema.NullOr(Schema.Struct({
    pattern: Schema.String.annotate({ description: "Regular expression of the whole code." }),
    example: Schema.String.annotate({ description: "A code of the form." })
  })).annotate({
    description: "Form of postal codes; null: the country has none."
  }),
  states: Schema.Array(Schema.Struct({
    code: Schema.String.annotate({ description: "Code by ISO 3166-2, without the country." }),
    name: Schema.String
  })).annotate({
    description: "States or provinces; empty where addresses and taxes do without."
  })
}).annotate({ identifier: "AddressFormat" })
export type AddressFormat = typeof AddressFormat.Type

/** Forms of addresses (contract-commerce §4). */
export const AddressesGroup = guarded(
  "addresses",
  HttpApiEndpoint.get("formats", "/api/addresses/formats", { success: Data(Schema.Array(AddressFormat)) })
    .annotateMerge(summary("List how addresses of each country look", "Changes with the version of the service alone."))
).annotateEndpoints(Access, open).annotateEndpoints(Storeless, true)
