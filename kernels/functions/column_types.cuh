// Types of the columns that functions of a caller do not read.
#pragma once

#ifndef edge_column0_t
#define edge_column0_t signed char
#endif
#ifndef edge_column1_t
#define edge_column1_t signed char
#endif
#ifndef edge_column2_t
#define edge_column2_t signed char
#endif
#ifndef edge_column3_t
#define edge_column3_t signed char
#endif
#ifndef vertex_column0_t
#define vertex_column0_t signed char
#endif
#ifndef vertex_column1_t
#define vertex_column1_t signed char
#endif
#ifndef vertex_column2_t
#define vertex_column2_t signed char
#endif
#ifndef vertex_column3_t
#define vertex_column3_t signed char
#endif
