import { Layer } from "effect"
import { analyticsModels } from "../../domain/customers/analytics.ts"
import { CustomerGroupRepo } from "../../domain/customers/CustomerGroupRepo.ts"
import { CustomerGroups } from "../../domain/customers/CustomerGroups.ts"
import { Addresses, Interactions } from "../../domain/customers/CustomerRecords.ts"
import { AddressRepo, InteractionRepo } from "../../domain/customers/CustomerRecordsRepo.ts"
import { CustomerRepo } from "../../domain/customers/CustomerRepo.ts"
import { Customers } from "../../domain/customers/Customers.ts"
import { migrations } from "../../domain/customers/migrations.ts"
import { TaxExemptionRepo } from "../../domain/customers/TaxExemptionRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { addressesHttp } from "../../http/addresses/AddressesHttp.ts"
import {
  customerGroupsHttp,
  customerRecordsHttp,
  customersHttp,
  meHttp,
  myOrdersHttp
} from "../../http/customers/CustomersHttp.ts"
import { tenancy } from "./tenancy.ts"

export const customers = defineModule({
  id: "customers",
  requires: [tenancy],
  permissions: [
    { scope: "customers:read", description: "Read customers, and buy on their behalf" },
    { scope: "customers:create", description: "Enter customers" },
    { scope: "customers:update", description: "Change customers" },
    { scope: "customers:read:self", description: "Read one's own profile" },
    { scope: "customers:update:self", description: "Change one's own profile" }
  ],
  migrations,
  analyticsModels,
  services: Layer.mergeAll(Addresses.layer, CustomerGroups.layer, Interactions.layer).pipe(
    Layer.provideMerge(Customers.layer),
    Layer.provideMerge(TaxExemptionRepo.layer),
    Layer.provideMerge(
      Layer.mergeAll(CustomerRepo.layer, AddressRepo.layer, CustomerGroupRepo.layer, InteractionRepo.layer)
    )
  ),
  routes: Layer.mergeAll(addressesHttp, customersHttp, customerRecordsHttp, customerGroupsHttp, meHttp, myOrdersHttp)
})
