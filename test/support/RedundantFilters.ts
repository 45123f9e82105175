/**
 * Filters of organizations whose absence no test can see, because something else guards the same, by what that is
 * (docs/invariants.md). `npm run chaos -- --project filters` compares this list with what it finds.
 */
const reasons: Readonly<Record<string, ReadonlyArray<string>>> = {
  "the transaction has locked the row, by its key and with the filter": [
    "src/domain/customers/CustomerGroupRepo.ts#4",
    "src/domain/privacy/PersonalDataRepo.ts#4",
    "src/domain/privacy/PersonalDataRepo.ts#10",
    "src/domain/privacy/PersonalDataRepo.ts#13",
    "src/domain/import-export/BatchRepo.ts#0",
    "src/domain/import-export/BatchRepo.ts#1",
    "src/domain/import-export/BatchRepo.ts#2",
    "src/domain/platform/batching/RowBatchRepo.ts#1",
    "src/domain/import-export/ImportRepo.ts#9",
    "src/domain/import-export/ImportRepo.ts#10",
    "src/domain/fulfillment/ShipmentRepo.ts#3",
    "src/domain/payments/RefundReversalRepo.ts#3",
    "src/domain/platform/resources/RecordRepo.ts#2",
    "src/domain/staff/StaffRepo.ts#4"
  ],
  "a part of the same statement has the row with the filter": [
    "src/domain/carts/CartStatements.ts#7",
    "src/domain/catalog/brands/BrandRepo.ts#1",
    "src/domain/catalog/categories/CategoryRepo.ts#5",
    "src/domain/catalog/categories/CategoryRepo.ts#8",
    "src/domain/catalog/categories/CategoryRepo.ts#10",
    "src/domain/catalog/EntityRepo.ts#1",
    "src/domain/catalog/fields/FieldDefinitionRepo.ts#2",
    "src/domain/checkout/BasketRepo.ts#2",
    "src/domain/media/MediaRepo.ts#6",
    "src/domain/pricing/PriceRepo.ts#0",
    "src/domain/search/PostgresEngineRepo.ts#1",
    "src/domain/search/PostgresEngineRepo.ts#2",
    "src/domain/search/SearchStatements.ts#1",
    "src/domain/search/SearchStatements.ts#2"
  ],
  "each word is looked for, with the filter, before the search that follows asks for it": [
    "src/domain/search/QueryTermsRepo.ts#4",
    "src/domain/search/QueryTermsRepo.ts#5"
  ],
  "a person has one default address, in whichever name": ["src/domain/customers/CustomerRecordsRepo.ts#2"],
  "the next statement has it": [
    "src/domain/import-export/ImportRepo.ts#8",
    "src/domain/payments/RefundRepo.ts#1",
    "src/domain/payments/RefundReversalRepo.ts#4"
  ],
  "the transaction has read the rows, with the filter, behind the lock of their entity": [
    "src/domain/platform/batching/RowBatchRepo.ts#2"
  ],
  "a trigger lets no category lie below one of another organization": [
    "src/domain/import-export/catalog/CatalogImportRepo.ts#8"
  ],
  "each way to an order and the end of the look-up have it": [
    "src/domain/orders/OrderRecordsRepo.ts#6",
    "src/domain/orders/OrderRecordsRepo.ts#7",
    "src/domain/orders/OrderRecordsRepo.ts#8",
    "src/domain/orders/OrderRecordsRepo.ts#12"
  ],
  "the entries of the change log that it leads to have it": ["src/domain/privacy/PersonalDataRepo.ts#8"],
  "the other two of the join say it": [
    "src/domain/inventory/StockStatements.ts#1",
    "src/domain/inventory/StockStatements.ts#2",
    "src/domain/inventory/StockStatements.ts#3"
  ],
  "the id is made of the organization": [
    "src/domain/checkout/SoldOrderRepo.ts#0",
    "src/domain/checkout/SoldOrderRepo.ts#1"
  ],
  "it names its job": ["src/layers/jobs/JobQueueRepo.ts#1"]
}

export const redundant: ReadonlySet<string> = new Set(Object.values(reasons).flat())
