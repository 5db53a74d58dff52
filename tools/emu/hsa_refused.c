/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of the ABI that this device does not serve: images, the finalizer, code objects of the
 * first version, IPC, SVM. Each says so. The ABI's headers are left out, since
 * an answer that reads no argument needs no prototype of its own.
 */

enum { STATUS_ERROR = 0x1000 }; /* HSA_STATUS_ERROR */

static int refused(void)
{
    return STATUS_ERROR;
}

#define REFUSE(name) int name(void) __attribute__((alias("refused"), visibility("default")));

REFUSE(hsa_amd_image_create)
REFUSE(hsa_amd_image_get_info_max_dim)
REFUSE(hsa_amd_interop_map_buffer)
REFUSE(hsa_amd_interop_unmap_buffer)
REFUSE(hsa_amd_ipc_memory_attach)
REFUSE(hsa_amd_ipc_memory_create)
REFUSE(hsa_amd_ipc_memory_detach)
REFUSE(hsa_amd_ipc_signal_attach)
REFUSE(hsa_amd_ipc_signal_create)
REFUSE(hsa_amd_memory_migrate)
REFUSE(hsa_amd_svm_attributes_get)
REFUSE(hsa_amd_svm_attributes_set)
REFUSE(hsa_amd_svm_prefetch_async)
REFUSE(hsa_code_object_deserialize)
REFUSE(hsa_code_object_destroy)
REFUSE(hsa_code_object_get_info)
REFUSE(hsa_code_object_get_symbol)
REFUSE(hsa_code_object_get_symbol_from_name)
REFUSE(hsa_code_object_iterate_symbols)
REFUSE(hsa_code_object_serialize)
REFUSE(hsa_code_symbol_get_info)
REFUSE(hsa_executable_load_code_object)
REFUSE(hsa_ext_image_clear)
REFUSE(hsa_ext_image_copy)
REFUSE(hsa_ext_image_create)
REFUSE(hsa_ext_image_create_with_layout)
REFUSE(hsa_ext_image_data_get_info)
REFUSE(hsa_ext_image_data_get_info_with_layout)
REFUSE(hsa_ext_image_destroy)
REFUSE(hsa_ext_image_export)
REFUSE(hsa_ext_image_get_capability)
REFUSE(hsa_ext_image_get_capability_with_layout)
REFUSE(hsa_ext_image_import)
REFUSE(hsa_ext_program_add_module)
REFUSE(hsa_ext_program_create)
REFUSE(hsa_ext_program_destroy)
REFUSE(hsa_ext_program_finalize)
REFUSE(hsa_ext_program_get_info)
REFUSE(hsa_ext_program_iterate_modules)
REFUSE(hsa_ext_sampler_create)
REFUSE(hsa_ext_sampler_destroy)
REFUSE(hsa_soft_queue_create)
